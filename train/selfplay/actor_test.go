package selfplay

import (
	"math"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/train/rows"
	"blockyard/train/task"
	"blockyard/train/trainer"

	"github.com/stretchr/testify/require"
)

// The gradient of all pairs that a softmax draws, each as often as it draws it, is the
// analytic gradient of the mean gain, whatever all gains have in common.
func TestPairsAreThePolicyGradient(t *testing.T) {
	const temperature, length = 0.3, 0.7
	weight := []float64{1, 2, 3, 4} // the softmax, in tenths
	gain := []float64{0.5, -0.2, 0.1, -0.4}
	game := &task.Game{Features: []string{"a", "b", "c", "d"}}
	trainer, err := trainer.New(trainer.Config{Sizes: []int{4, 1}, Batch: 256, Loss: trainer.Logistic, Seed: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, trainer.Close()) }()
	layer := mlp.Layer{In: 4, Out: 1, W: make([]float32, 4), B: make([]float32, 1)}
	for i, w := range weight {
		layer.W[i] = float32(temperature * math.Log(w))
	}
	net, err := mlp.New([]mlp.Layer{layer})
	require.NoError(t, err)
	require.NoError(t, trainer.SetNet(net))

	a := &actor{trainer: trainer, net: net, rows: rows.Rows{Game: game}}
	one := func(i int) []float32 { x := make([]float32, 4); x[i] = 1; return x }
	for i, w := range weight {
		for j, v := range weight {
			if i == j {
				continue // is not noted, and its gradients cancel
			}
			for range int(w * v) {
				p := &path{steps: []step{{value: 0.3}, {}}, pairAt: []int{1}, pairX: append(one(i), one(j)...)}
				a.add(p, []float32{0, float32(0.3 + 0.25 + gain[i])})
			}
		}
	}
	a.aim(length)
	require.Len(t, a.rows.Y, 2*70)
	_, got, err := trainer.Gradients(a.rows.X, a.rows.Y)
	require.NoError(t, err)

	mean := 0.0
	for i, w := range weight {
		mean += w / 10 * gain[i]
	}
	for i, w := range weight {
		up := w / 10 * (gain[i] - mean) / temperature // of the mean gain, by this weight
		require.InDelta(t, -length*temperature*up*100/140, got[0][i], 1e-6, "%d", i)
	}
	require.InDelta(t, 0, got[1][0], 1e-6, "the bias moves all alike")
}

func TestActorPassesOverWhatItCannotTell(t *testing.T) {
	game := &task.Game{Features: []string{"a"}}
	a := &actor{rows: rows.Rows{Game: game}}
	nan := float32(math.NaN())
	p := &path{
		steps:  []step{{value: .1}, {value: .2, kind: ended}, {value: .3}, {value: .4}, {value: .5}},
		pairAt: []int{0, 1, 2, 3, 4},
		pairX:  []float32{0, 0, 1, 10, 2, 20, 3, 30, 4, 40},
	}
	a.add(p, []float32{.9, .8, .7, .6, nan})
	require.Equal(t, []float32{1, 10, 3, 30}, a.rows.X, "not the first of a stretch or a game, not the unknown")
	require.InDeltaSlice(t, []float32{.7, .3}, a.gains, 1e-6)
	a.clear()
	require.Zero(t, a.rows.Len()+len(a.rows.X)+len(a.gains))
}

// takes is the game in which seats take turns and what counts is how much each took: an
// obvious choice for anyone who learns from results, and for a net that knows no more of
// an afterstate than what was taken last, nothing but a choice.
var takes = &task.Game{
	Rules:    toy.Turns,
	Features: []string{"took 1", "took 2", "took 3", "cards"},
	Own:      3,
	Reader:   func() task.Reader { return takesReader{} },
	Hand:     func() search.Evaluator { return nil },
	Chance:   func(s env.State, seat int) float32 { return float32(s.Score(seat)) / toy.Target },
	Damage:   func(env.State, *env.Rand) {},
}

type takesReader struct{}

func (takesReader) Shared(s env.State, _ int, out []float32) {
	out[0] = float32(s.(*toy.State).Played) / toy.Length
}

func (takesReader) Own(s env.State, seat int, out []float32) {
	clear(out)
	if n := s.(*toy.State).Last[seat]; n > 0 {
		out[n-1] = 1
	}
}

// An actor learns to take the most, from the pairs alone and whichever net it begins as.
func TestActorLearns(t *testing.T) {
	c := small(1)
	c.Games, c.Rounds, c.Iterations, c.Batch, c.ActorBatch = 16, 48, 60, 64, 64
	c.Warm, c.Deep, c.Versus, c.Mean = 0, 0, 0, 1
	c.Actor, c.Temperature, c.ActorFrom, c.ActorTo = 1, 0.2, 3e-3, 3e-3
	for _, likes := range []float32{0.3, -0.3} {
		layers := []mlp.Layer{{In: 4, Out: 8, W: make([]float32, 32), B: make([]float32, 8)}, {In: 8, Out: 1, W: make([]float32, 8), B: make([]float32, 1)}}
		for i := range layers[0].W {
			layers[0].W[i] = float32(i%5-2) / 8
		}
		for i := range 4 {
			layers[0].W[4*i+2], layers[1].W[i] = 1, likes/4
		}
		from, err := mlp.New(layers)
		require.NoError(t, err)
		r, err := New(takes, c, from, 1)
		require.NoError(t, err)
		for r.Progress() < 1 {
			require.NoError(t, r.Step())
		}
		require.NotZero(t, r.Counts.Pairs)
		out := make([]float32, 3)
		r.Net().Forward([]float32{1, 0, 0, .5, 0, 1, 0, .5, 0, 0, 1, .5}, 3, out)
		require.Greater(t, out[2]-out[1], float32(0.2), "from %v: %v", likes, out)
		require.Greater(t, out[1]-out[0], float32(0.2), "from %v: %v", likes, out)
		require.NoError(t, r.Close())
	}
}

// Shares of the budget follow one another; the actor begins as the net of values.
func TestActorHasItsShare(t *testing.T) {
	c := small(9)
	c.Warm, c.Actor = 0.25, 0.5
	r := open(t, c, 1)
	for i := range c.Iterations {
		require.Equal(t, i >= 4, r.deal().temperature > 0, "iteration %d", i)
		require.Equal(t, i < 2, r.deal().warm)
		require.Equal(t, i > 4, r.Acts())
		require.NoError(t, r.Step())
	}
	require.NotZero(t, r.Counts.Pairs)
	require.NotEqual(t, r.net, r.Net())

	r = open(t, c, 1)
	require.NoError(t, r.Step())
	require.NoError(t, r.hire(r.net))
	require.Same(t, r.net, r.Net())
	now, err := r.actor.trainer.Net()
	require.NoError(t, err)
	require.Equal(t, r.net.Tensors(), now.Tensors())

	c.Warm, c.Actor = 0.5, 1 // the warm start goes before
	require.InDelta(t, 0.5, c.actorFrom(), 0)
	c.Actor, c.Temperature, c.Step = 0, 0, 0 // as in states of runs without one
	r = open(t, c, 1)
	for range c.Iterations {
		require.NoError(t, r.Step())
	}
	require.Same(t, r.net, r.Net())
	require.False(t, r.Acts())
}
