package phases

import (
	"math"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/network/rows"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// The gradient of all pairs that a softmax draws, each as often as it draws it, is the
// analytic gradient of the mean gain, whatever all gains have in common.
func TestPairsAreThePolicyGradient(t *testing.T) {
	const temperature, length = 0.3, 0.7
	weight := []float64{1, 2, 3, 4} // the softmax, in tenths
	gain := []float64{0.5, -0.2, 0.1, -0.4}
	game := &games.Game{Features: []string{"a", "b", "c", "d"}}
	layer := mlp.Layer{In: 4, Out: 1, W: make([]float32, 4), B: make([]float32, 1)}
	for i, w := range weight {
		layer.W[i] = float32(temperature * math.Log(w))
	}
	net, err := mlp.New([]mlp.Layer{layer})
	require.NoError(t, err)

	v := &selfplay.Value{Now: net, Rows: rows.Rows{Game: game}}
	l := &actorLearner{Value: v, config: &Config{Step: length}}
	one := func(i int) []float32 { x := make([]float32, 4); x[i] = 1; return x }
	for i, w := range weight {
		for j, v := range weight {
			if i == j {
				continue // is not noted, and its gradients cancel
			}
			for range int(w * v) {
				p := &pairs{at: []int{1}, x: append(one(i), one(j)...)}
				l.add(p, []step{{Value: 0.3}, {}}, []float32{0, float32(0.3 + 0.25 + gain[i])})
			}
		}
	}
	l.setTargets()
	require.Len(t, l.Rows.Y, 2*70)
	got, bias := make([]float64, 4), 0.0 // of the logistic loss, by the net's weights
	for i, y := range l.Rows.Y {
		var z [1]float32
		net.Forward(l.Rows.Row(i), 1, z[:])
		d := float64(odds(z[0])-y) / float64(len(l.Rows.Y))
		for j, x := range l.Rows.Row(i) {
			got[j] += d * float64(x)
		}
		bias += d
	}

	mean := 0.0
	for i, w := range weight {
		mean += w / 10 * gain[i]
	}
	for i, w := range weight {
		up := w / 10 * (gain[i] - mean) / temperature // of the mean gain, by this weight
		require.InDelta(t, -length*temperature*up*100/140, got[i], 1e-6, "%d", i)
	}
	require.InDelta(t, 0, bias, 1e-6, "the bias moves all alike")
}

func TestActorPassesOverWhatItCannotTell(t *testing.T) {
	game := &games.Game{Features: []string{"a"}}
	l := &actorLearner{Value: &selfplay.Value{Rows: rows.Rows{Game: game}}}
	nan := float32(math.NaN())
	steps := []step{{Value: .1}, {Value: .2, Ended: true}, {Value: .3}, {Value: .4}, {Value: .5}}
	p := &pairs{at: []int{0, 1, 2, 3, 4}, x: []float32{0, 0, 1, 10, 2, 20, 3, 30, 4, 40}}
	l.add(p, steps, []float32{.9, .8, .7, .6, nan})
	require.Equal(t, []float32{1, 10, 3, 30}, l.Rows.X, "not the first of a rollout or a game, not the unknown")
	require.InDeltaSlice(t, []float32{.7, .3}, l.gains, 1e-6)
}

// Every fit begins with no pairs: what one rollout left is not learned from again.
func TestFitForgets(t *testing.T) {
	r, l, _ := start(t, takes, nil)
	require.NoError(t, r.Step())
	pairs := r.Counts.Pairs
	require.NotZero(t, pairs)
	require.NoError(t, r.Step())
	require.Equal(t, r.Counts.Pairs-pairs, len(l.gains))
	require.Equal(t, 2*len(l.gains), l.Rows.Len())
}

// An actor learns to take the most, from the pairs alone and whichever net it begins as.
func TestActorLearns(t *testing.T) {
	for _, likes := range []float32{0.3, -0.3} {
		layers := []mlp.Layer{
			{In: 4, Out: 8, W: make([]float32, 32), B: make([]float32, 8)},
			{In: 8, Out: 1, W: make([]float32, 8), B: make([]float32, 1)},
		}
		for i := range layers[0].W {
			layers[0].W[i] = float32(i%5-2) / 8
		}
		for i := range 4 {
			layers[0].W[4*i+2], layers[1].W[i] = 1, likes/4
		}
		from, err := mlp.New(layers)
		require.NoError(t, err)
		r, _, _ := start(t, takes, from)
		for r.Progress() < 1 {
			require.NoError(t, r.Step())
		}
		require.NotZero(t, r.Counts.Pairs)
		out := make([]float32, 3)
		r.Net().Forward([]float32{1, 0, 0, .5, 0, 1, 0, .5, 0, 0, 1, .5}, 3, out)
		require.Greater(t, out[2]-out[1], float32(0.2), "from %v: %v", likes, out)
		require.Greater(t, out[1]-out[0], float32(0.2), "from %v: %v", likes, out)
	}
}

// The actor begins as the critic.
func TestActorBeginsAsItsCritic(t *testing.T) {
	r, l, _ := start(t, takes, nil)
	require.Equal(t, l.critic.Net().Tensors(), r.Net().Tensors())
	now, err := l.Trainer.Net()
	require.NoError(t, err)
	require.Equal(t, l.critic.Net().Tensors(), now.Tensors())
}
