package single

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/wintetrisbot"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

func tiny() Config {
	c := Default(games.WinTetris)
	c.Games, c.Rounds, c.Iterations, c.Hidden, c.Batch = 6, 24, 8, []int{8}, 64
	c.Gates, c.GateGames, c.GateSteps, c.Explore, c.Longest = 2, 3, 50, 0.05, 40
	return c
}

func open(t *testing.T, g *games.Game, c Config, workers int) *selfplay.Run {
	r := envtest.Must(selfplay.New(g, &c, nil, workers))
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func learnerOf(r *selfplay.Run) *learner { return r.Learner.(*learner) }

// same requires that two runs have come to the same.
func same(t *testing.T, a, b *selfplay.Run) {
	require.Equal(t, a.Net().Tensors(), b.Net().Tensors())
	require.Equal(t, a.Best.Tensors(), b.Best.Tensors())
	for _, r := range []*selfplay.Run{a, b} {
		r.Counts.Spent, r.Counts.CPU, r.Counts.Gating, r.Counts.LastGate = 0, 0, 0, 0
		for i := range r.Curve {
			r.Curve[i].Seconds, r.Curve[i].CPU = 0, 0
		}
	}
	require.Equal(t, a.Counts, b.Counts)
	require.Equal(t, a.Curve, b.Curve)
}

// TestSurvival: targets are chances, also of rollouts that are kept; rows count nothing, and only an end is 0.
func TestSurvival(t *testing.T) {
	conf := tiny()
	conf.Keep, conf.Lambda = 3, 1
	r := open(t, games.WinTetrisPaper, conf, 1)
	require.NoError(t, r.Go(t.Context(), nil))
	l := learnerOf(r)
	require.Equal(t, wintetrisbot.Survival, conf.Notes(r)["output"])
	ends := 0
	for k := range l.kept {
		s := &l.kept[k]
		y, ok := make([]float32, len(s.Steps)), make([]bool, len(s.Steps))
		returns(s.Steps, 1, 0.97, y, ok)
		left := math.MinInt // choices that go on before the end, if it is known
		for i := len(s.Steps) - 1; i >= 0; i-- {
			require.True(t, s.Steps[i].Value >= 0 && s.Steps[i].Value <= 1)
			left++
			if s.Steps[i].Ended {
				left = 0
				ends++
			} else if s.Steps[i].Cut {
				left = math.MinInt
			}
			if left >= 0 {
				require.InDelta(t, 1-math.Pow(0.97, float64(left)), y[i], 1e-5)
			}
		}
	}
	require.NotZero(t, ends)
}

// A run that is stopped, saved and resumed by more workers ends as an undisturbed one does, by choices and by plans.
func TestAResumedRunGoesOnAsBefore(t *testing.T) {
	for _, g := range []*games.Game{games.WinTetris, games.WinTetrisPaper, games.Dropblox} {
		conf := tiny()
		conf.Keep = 3
		if g == games.Dropblox { // plans take longer; the first ones are the baseline's
			conf.Rounds, conf.Warm, conf.Late, conf.GateGames, conf.GateSteps = 12, 0.5, 1, 1, 5
		}
		whole, first := open(t, g, conf, 1), open(t, g, conf, 1)
		require.NoError(t, whole.Go(t.Context(), nil))
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, first.Go(ctx, func(bool) error {
			if first.Counts.Iterations == 5 {
				cancel()
			}
			return nil
		}))
		require.False(t, first.Done())
		path := filepath.Join(t.TempDir(), "state")
		require.NoError(t, first.Save(path))
		again := envtest.Must(selfplay.Resume(g, path, new(Config), 3))
		defer func() { require.NoError(t, again.Close()) }()
		require.NoError(t, again.Go(t.Context(), nil))
		same(t, whole, again)
		require.Equal(t, 2, again.Counts.Gated)
		require.Len(t, learnerOf(again).kept, conf.Keep*conf.Games)
	}
	net := filepath.Join(t.TempDir(), "net")
	require.NoError(t, games.WinTetris.Save(net, open(t, games.WinTetris, tiny(), 1).Net(), nil))
	require.ErrorContains(t, envtest.Failed(selfplay.Resume(games.WinTetris, net, new(Config), 1)), "not a saved run")
}

// TestReturns works one path out by hand: two steps, the end, a game that is cut off.
func TestReturns(t *testing.T) {
	s := []afterstate.Step{
		{Value: 1, Reward: 9},
		{Value: 2, Reward: 10, Ended: true, Last: 3},
		{Value: 4, Reward: 9},
		{Value: 8, Reward: 20},
		{Value: 16, Reward: 30, Cut: true},
		{Value: 5, Reward: 1, Cut: true},
	}
	y, ok := make([]float32, 6), make([]bool, 6)
	returns(s, 0.25, 0.5, y, ok)
	require.Equal(t, []bool{true, true, true, true, false, false}, ok)
	require.Equal(t, float32(3), y[1])
	require.Equal(t, float32(10+0.5*(0.75*2+0.25*3)), y[0])
	require.Equal(t, float32(30+0.5*16), y[3])
	require.Equal(t, float32(20+0.5*(0.75*8+0.25*y[3])), y[2])
}

// A game that ends with its first choice says nothing about the game before it.
func TestEndsCloseTheirOwnGameOnly(t *testing.T) {
	s := &steps{}
	s.End(1)
	require.Empty(t, s.Steps)
	s.Add(afterstate.Step{}, nil)
	s.End(2)
	s.End(3)
	require.Equal(t, []afterstate.Step{{Ended: true, Last: 2}}, s.Steps)
	s.Add(afterstate.Step{}, nil)
	s.Cut()
	s.End(4)
	require.Equal(t, afterstate.Step{Cut: true}, s.Steps[1])
}

// A plan's worth follows what later plans make of it: points are those that plans lead to.
func TestFollowsPlans(t *testing.T) {
	c := tiny()
	c.Explore, c.Games, c.DeepWidth, c.Warm = 0, 1, 4, 1
	r := open(t, games.Dropblox, c, 1)
	slot, unit, leaf := r.Slots[0], games.Dropblox.Solo.Unit, 0
	ro := r.Learner.Rollout()
	p := envtest.Must(r.Policies(&ro))[0].(*policy)
	p.Begin(slot)
	notes := slot.Notes.(*steps)
	for n := 0; slot.State.Acting() != 0; n++ {
		m := env.Alone(0, p.Choose(slot, 0))
		if n > 0 && len(notes.Steps) > 0 && notes.points != leaf {
			require.InDelta(t, float64(notes.points-leaf)*unit, notes.Steps[len(notes.Steps)-1].Reward, 1e-6)
		}
		leaf = notes.points
		slot.State.Step(m)
	}
	p.End(slot)
	require.Len(t, notes.X, len(notes.Steps)*len(games.Dropblox.Features))
	last := notes.Steps[len(notes.Steps)-1]
	require.True(t, last.Ended)
	require.InDelta(t, float64(slot.State.Score(0)-leaf)*unit, last.Last, 1e-6)
	slot.State.Reset(1)
	p.config.Explore = 1 // a random choice: no plan
	before := len(notes.Steps)
	p.Choose(slot, 0)
	require.Len(t, notes.Steps, before)
}

// TestItLearns compares a short run with where it starts.
func TestItLearns(t *testing.T) {
	c := Default(games.WinTetris)
	c.Games, c.Rounds, c.Iterations, c.Gates, c.GateGames, c.GateSteps, c.Mean = 32, 32, 120, 1, 20, 2000, 10
	c.Batch, c.Rate, c.Lambda, c.Late = 64, 3e-3, 0.8, 0.8
	r := open(t, games.WinTetris, c, 2)
	before := selfplay.Point{}
	ok, err := c.Gate(t.Context(), r, &before)
	require.True(t, ok)
	require.NoError(t, err)
	require.NoError(t, r.Go(t.Context(), nil))
	t.Logf("%.1f lines per game at first, %.1f after %d choices", before.PerGame, r.Curve[0].PerGame, r.Counts.Moves)
	require.Less(t, before.PerGame, 1.)
	require.Greater(t, r.Curve[0].PerGame, 10.)
}

func TestBadConfigsAreNamed(t *testing.T) {
	for says, change := range map[string]func(*Config){
		"lambda is 2":         func(c *Config) { c.Lambda = 2 },
		"last rate is 0":      func(c *Config) { c.RateEnd = 0 },
		"keep is 0":           func(c *Config) { c.Keep = 0 },
		"rows are kept":       func(c *Config) { c.Keep = 1 << 15 },
		"games is 0":          func(c *Config) { c.Games = 0 },
		"one of the two":      func(c *Config) { c.For = time.Second },
		"gate steps is -1":    func(c *Config) { c.GateSteps = -1 },
		"of 0 iterations and": func(c *Config) { c.Iterations = 0 },
	} {
		c := tiny()
		change(&c)
		require.ErrorContains(t, envtest.Failed(selfplay.New(games.WinTetris, &c, nil, 1)), says)
	}
	c := tiny()
	require.ErrorContains(t, envtest.Failed(selfplay.New(games.BlockBattle, &c, nil, 1)), "not a game of one seat")
}

// BenchmarkStep is a rollout of 64 games of 64 choices, and the fit to it.
func BenchmarkStep(b *testing.B) {
	c := Default(games.WinTetris)
	r := envtest.Must(selfplay.New(games.WinTetris, &c, nil, 1))
	defer func() { require.NoError(b, r.Close()) }()
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, r.Step())
	}
	b.ReportMetric(float64(r.Counts.Moves)/b.Elapsed().Seconds(), "choices/s")
}
