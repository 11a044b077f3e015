package backup

import (
	"context"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
	"blockyard/train/task"

	"github.com/stretchr/testify/require"
)

// whole is an algorithm in which a backup has the whole budget.
type whole struct {
	c Config
	o selfplay.Options
}

func (w whole) Start(r *selfplay.Run, _ *mlp.Net) (selfplay.Learner, error) {
	from, err := FirstNet(r.Game, r.Options)
	if err != nil {
		return nil, err
	}
	return New(r, w.c, from)
}

func (w whole) Next(_ *selfplay.Run, last selfplay.Learner) (selfplay.Learner, error) {
	return last, nil
}
func (w whole) Restore(*selfplay.Run, *selfplay.State) (selfplay.Learner, error) { return nil, nil }
func (w whole) Gate(context.Context, *selfplay.Run, *selfplay.Point) (bool, error) {
	return true, nil
}
func (w whole) GameStream() uint64                    { return 1 }
func (w whole) Notes(*selfplay.Run) map[string]string { return nil }
func (w whole) Config() any                           { return nil }
func (w whole) Options() selfplay.Options             { return w.o }
func (w whole) Check(*task.Game) error                { return nil }

// start begins a small run, and returns its learner and a policy.
func start(t *testing.T, seed uint64) (*selfplay.Run, *Learner, *policy) {
	t.Helper()
	o := selfplay.Options{
		Seed: seed, Hidden: []int{16}, Batch: 32, Games: 16, Rounds: 64, Iterations: 24,
		Mean: 5, Explore: 0.1, Late: 0.3, Gates: 1,
	}
	c := Config{Backup: 1, Samples: 2, Look: 1, RateBackup: 1e-3}.With(3, 0.5)
	r, err := selfplay.New(task.BlockBattle, whole{c, o}, nil, 2)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	l := r.Learner.(*Learner)
	l.Rollout()
	return r, l, l.policies[0]
}

// What searching a ply further changes, beyond what it changes everywhere, is learned: the
// net comes nearer to it than the base is, on rows it has not seen either.
func TestBackupLearns(t *testing.T) {
	r, l, _ := start(t, 4)
	base := l.base
	for range r.Options.Iterations - 1 {
		require.NoError(t, r.Step())
	}
	require.Same(t, base, l.base, "it stands still until a gate")
	r.Play(l.Rollout())
	l.collect()
	before, after := make([]float32, l.Rows.Len()), make([]float32, l.Rows.Len())
	base.Forward(l.Rows.X, len(before), before)
	l.Mean.Forward(l.Rows.X, len(after), after)
	residual := func(values []float32) (sum float64) {
		for i, v := range values {
			d := float64(v - l.Rows.Y[i])
			sum += d * d
		}
		return sum
	}
	require.Greater(t, l.Rows.Len(), 100)
	require.Less(t, residual(after), 0.9*residual(before))
	require.NoError(t, l.Gated())
	require.Same(t, l.Mean, l.base, "a gate ends the stage")
}

// The mean over draws is that of the search written out.
func TestOverDrawsGoesThroughAllDraws(t *testing.T) {
	r, _, c := start(t, 6)
	var rand env.Rand
	rand.Seed(3)
	s, third := r.Game.Rules.New(2), r.Game.Rules.New(2)
	for range 20 {
		a, b, ok := randomPair(c, s, &rand)
		if !ok {
			continue
		}
		got, want := c.overDraws(s, 0, [2]env.Action{a, b}), float32(0)
		for p := range 7 {
			third.CopyFrom(s)
			third.Force([]uint16{uint16(p)})
			env.After(third, 0, a)
			env.After(third, 0, b)
			v := float32(-maxWorth)
			if third.Acting() != 0 {
				v = max(c.BestWorth(&c.Leaf, third, 0), -maxWorth)
			}
			want += min(v, maxWorth) / 7
		}
		require.InDelta(t, want, got, 1e-4)
	}
}

// randomPair sets s to a damaged position and returns two choices of seat 0 in it, one
// after the other.
func randomPair(c *policy, s env.State, rand *env.Rand) (a, b env.Action, ok bool) {
	s.Reset(rand.Next())
	c.Game.Damage(s, rand)
	c.Open(&c.Root, s, 0)
	if c.Root.Live == 0 {
		return 0, 0, false
	}
	k := int(rand.Next() % uint64(c.Root.Live))
	legal := c.Root.States[k].Legal(0, nil)
	return c.Root.Legal[c.Root.Choice[k]], legal[rand.Next()%uint64(len(legal))], true
}

// The futures of a decision hold every outcome of every draw once.
func TestDrawFuturesGivesEveryOutcomeOnce(t *testing.T) {
	_, _, c := start(t, 1)
	var rand env.Rand
	rand.Seed(2)
	for look := 2; look < 5; look++ {
		c.drawFutures(&rand, look)
		require.Len(t, c.futures, look)
		for _, draws := range c.futures {
			require.ElementsMatch(t, []uint16{0, 1, 2, 3, 4, 5, 6}, draws)
		}
	}
}

// A search of two plies further is the mean, over the futures, of a two-ply search written
// out; one of three plays the first of these and searches again.
func TestOverFuturesIsTheSearchWrittenOut(t *testing.T) {
	r, _, c := start(t, 6)
	var rand env.Rand
	rand.Seed(5)
	s, then := r.Game.Rules.New(2), r.Game.Rules.New(2)
	searched := 0
	for n := range 16 {
		a, b, ok := randomPair(c, s, &rand)
		if !ok {
			continue
		}
		look := 2 + n%2
		c.drawFutures(&rand, look)
		want := float32(0)
		for f := range 7 {
			then.CopyFrom(s)
			for k, choice := range []env.Action{a, b} {
				then.Force([]uint16{c.futures[k][f]})
				env.After(then, 0, choice)
				if then.Acting() == 0 {
					break
				}
			}
			v := float32(-maxWorth)
			if then.Acting() != 0 {
				choice, worth := slowTwoPly(c, then)
				if v = worth; look == 3 && choice != env.None {
					then.Force([]uint16{c.futures[2][f]})
					env.After(then, 0, choice)
					if v = -maxWorth; then.Acting() != 0 {
						_, v = slowTwoPly(c, then)
					}
				}
			}
			want += min(max(v, -maxWorth), maxWorth) / 7
			searched++
		}
		require.InDelta(t, want, c.overFutures(s, 0, [2]env.Action{a, b}), 1e-4)
	}
	require.Greater(t, searched, 50)
}

// slowTwoPly is twoPly without its shortcuts: all first choices are evaluated and ordered,
// and the first few of them searched.
func slowTwoPly(c *policy, s env.State) (env.Action, float32) {
	var l afterstate.Ply
	c.Evaluate(&l, s, 0)
	if len(l.Legal) == 0 {
		return env.None, -maxWorth
	}
	at, worth, tried := afterstate.Best(l.Worth), float32(-afterstate.Certain), map[int]bool{}
	for range min(furtherWidth, l.Live) {
		k := -1
		for j := range l.Live {
			if !tried[j] && (k < 0 || l.Out[j] > l.Out[k]) {
				k = j
			}
		}
		tried[k] = true
		if v := c.BestWorth(&c.Leaf, l.States[k], 0); v > worth {
			at, worth = l.Choice[k], v
		}
	}
	return l.Legal[at], worth
}
