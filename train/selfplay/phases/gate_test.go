package phases

import (
	"testing"

	"blockyard/agents/match"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// A gate may play against a population: its pairs are divided, and the score is that of all of them.
func TestGateAgainst(t *testing.T) {
	c := small(3)
	c.GateAgainst, c.GatePairs = []string{"random", "digger", "terms6:ply=1"}, 5
	r := open(t, c, 1)
	last := 0
	r.OnGate = func(done, of int) { last = of }
	require.NoError(t, r.Go(t.Context(), nil))
	require.Len(t, r.Curve, 2)
	for _, p := range r.Curve {
		require.Equal(t, 10, p.Games)
		require.Equal(t, "random, digger, terms6:ply=1", p.Against)
		require.LessOrEqual(t, p.Low, p.Score)
		require.LessOrEqual(t, p.Score, p.High)
	}
	require.Equal(t, 20, last, "also against the best net")
	require.Contains(t, r.LastScore(), "vs random, digger, terms6:ply=1")
	list := envtest.Must(c.opponents(games.BlockBattle))
	require.Equal(t, []int{1, 2, 2}, []int{list[0].Units, list[1].Units, list[2].Units})
}

// A net that wins against the best net, but scores less against the population, is not kept.
func TestGateAgainstDecides(t *testing.T) {
	for _, before := range []float64{0, 1.1} {
		c := small(8)
		c.GateAgainst, c.GatePairs, c.GatePly = []string{"random"}, 4, 1
		r := open(t, c, 1)
		require.NoError(t, r.Step())
		r.Best = r.Net()
		for r.Counts.Iterations < c.Iterations { // later nets win against the first
			require.NoError(t, r.Step())
		}
		r.Curve = []selfplay.Point{{Score: before, Kept: true}}
		var p selfplay.Point
		ok := envtest.Must(c.Gate(t.Context(), r, &p))
		require.True(t, ok)
		require.Equal(t, before < 1, p.Kept)
		if before == 0 {
			require.Greater(t, p.VersusBest, 0.5, "the test needs a net that beats the first")
		}
	}
}

// Of two nets that are level the later one is kept.
func TestATieKeepsTheLaterNet(t *testing.T) {
	c := small(4)
	c.GatePairs, c.GatePly = 3, 1
	r := open(t, c, 1)
	require.NoError(t, r.Step())
	r.Best = r.Net()
	var p selfplay.Point
	ok := envtest.Must(c.Gate(t.Context(), r, &p))
	require.True(t, ok)
	require.Equal(t, 0.5, p.VersusBest, "it plays itself, with the seats swapped")
	require.True(t, p.Kept)
}

// Without a test, only a net that is shown to be weaker is not kept.
func TestWhoIsKept(t *testing.T) {
	for _, s := range []struct {
		elo   float64
		score match.Estimate
		kept  bool
	}{
		{0, match.Estimate{Value: 0.45, Low: 0.38, High: 0.52}, true},
		{0, match.Estimate{Value: 0.4, Low: 0.31, High: 0.49}, false},
		{20, match.Estimate{Value: 0.5, Low: 0.45, High: 0.55}, true},
		{20, match.Estimate{Value: 0.49, Low: 0.45, High: 0.55}, false},
	} {
		require.Equal(t, s.kept, (&Config{GateElo: s.elo}).holds(s.score), "%v", s)
	}
}

// The best net is the one of the last gate that kept its net.
func TestBestScore(t *testing.T) {
	require.Zero(t, bestScore(nil))
	require.InDelta(t, 0.4, bestScore([]selfplay.Point{
		{Score: 0.3, Kept: true}, {Score: 0.4, Kept: true}, {Score: 0.6},
	}), 0)
}

func TestGateAgainstRefuses(t *testing.T) {
	c := small(3)
	c.GateAgainst = []string{"nobody"}
	require.NoError(t, c.Check(games.BlockBattle), "which a worker does not play")
	require.ErrorContains(t, envtest.Failed(selfplay.New(games.BlockBattle, &c, nil, 1)), "gate against nobody")
	c.GateAgainst, c.GatePairs = []string{"hand", "combo", "tspin"}, 2
	require.ErrorContains(t, c.Check(games.BlockBattle), "at least one for each of the 3 opponents")
}
