package phases

import (
	"testing"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// A contrary is a baseline evaluator that prefers what the real one does not.
type contrary struct{ search.Evaluator }

func (c contrary) Evaluate(states []env.State, seat int, out []float32) {
	c.Evaluator.Evaluate(states, seat, out)
	for i := range out {
		out[i] = -out[i]
	}
}

// Nobody teaches a run: its nets are the same whatever the baseline evaluator prefers.
func TestFromZeroHasNoTeacher(t *testing.T) {
	for _, g := range []*games.Game{games.BlockBattle, games.TetrisDuel, games.Blocking} {
		nets := [2][]mlp.Tensor{}
		other := *g
		other.Evaluator = func(net *mlp.Net) (search.Evaluator, error) {
			e, err := g.Evaluator(net)
			if net == nil {
				e = contrary{e}
			}
			return e, err
		}
		for i, g := range []*games.Game{g, &other} {
			c := Default(g)
			c.Games, c.Rounds, c.Iterations, c.Batch, c.Hidden = 4, 24, 4, 32, []int{6}
			c.Gates, c.GatePairs, c.GatePly = 2, 1, 1
			r, err := selfplay.New(g, &c, nil, 1)
			require.NoError(t, err)
			require.NoError(t, r.Go(t.Context(), nil))
			nets[i] = r.Net().Tensors()
			require.NoError(t, r.Close())
		}
		require.Equal(t, nets[0], nets[1], g.Rules.Name)
	}
}

// The parts of a run from zero follow one another, each from the net of the one before, and are named.
func TestStagesFromZero(t *testing.T) {
	c := Default(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Batch, c.Hidden = 4, 24, 12, 32, []int{6}
	c.GatePairs, c.GatePly = 1, 1
	r := open(t, c, 1)
	var names []string
	var before *mlp.Net // at the last gate
	require.NoError(t, r.Go(t.Context(), func(gated bool) error {
		if gated {
			before = r.Net()
			return nil
		}
		names = append(names, r.Settings.Stage(r))
		if b, ok := r.Learner.(*siblingLearner); ok {
			require.Same(t, before, b.base)
		}
		return nil
	}))
	require.Equal(t, []string{
		"results of games", "results of games", "results of games", "results of games",
		"search backup 1 of 3", "search backup 1 of 3", "search backup 2 of 3", "search backup 2 of 3",
		"search backup 3 of 3", "search backup 3 of 3", "search backup 3 of 3", "search backup 3 of 3",
	}, names)
}

// The learning rate of the results falls to its end before the backup begins.
func TestRateOfResults(t *testing.T) {
	c := Default(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Hidden = 1, 1, 200, []int{2}
	c.Results, c.Backup = 0.25, 0.75
	r := open(t, c, 1)
	l := r.Learner.(*lambdaLearner)
	require.InDelta(t, c.Rate, l.rate(), 1e-9)
	r.Counts.Iterations = 25
	require.InDelta(t, (c.Rate+c.RateEnd)/2, l.rate(), 1e-6)
	r.Counts.Iterations = 49
	require.InDelta(t, c.RateEnd, l.rate(), 2e-6)
}

// A gate against the best net ends as soon as its test has decided, after more pairs than against the baseline if it
// must.
func TestGateStopsWhenItsTestDecides(t *testing.T) {
	c := Default(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Batch, c.Hidden = 4, 24, 2, 32, []int{6}
	c.Gates, c.GatePairs, c.GatePly, c.GateElo = 2, 30, 1, 400
	r := open(t, c, 1)
	most, played := 0, 0
	r.OnGate = func(done, of int) { most, played = of, done }
	require.NoError(t, r.Go(t.Context(), nil))
	require.Equal(t, 60+240, most)
	require.Less(t, played, most, "two nets that can do nothing are not 400 Elo apart")
}

// After a gate that a sequential test decided, a stage begins with the best net so far; otherwise with the last one.
func TestStageAfterALostGate(t *testing.T) {
	r, l := startBackup(t, 6)
	require.NoError(t, r.Step())
	best := l.base
	r.Best = best
	require.NoError(t, l.Gated())
	require.Same(t, l.Mean, l.base)
	l.config.GateElo = 20
	require.NoError(t, l.Gated())
	require.Same(t, best, l.base)
}
