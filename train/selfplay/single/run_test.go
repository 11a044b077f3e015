package single

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/train/task"
)

func tiny() Config {
	c := Default()
	c.Games, c.Rounds, c.Iterations, c.Hidden, c.Batch = 6, 24, 8, []int{8}, 64
	c.Gates, c.GateGames, c.GateSteps, c.Explore, c.Longest = 2, 3, 50, 0.05, 40
	return c
}

func open(t *testing.T, c Config, workers int) *Run {
	r, err := New(task.WinTetris, c, nil, workers)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// same requires that two runs have come to the same.
func same(t *testing.T, a, b *Run) {
	require.Equal(t, a.Net().Tensors(), b.Net().Tensors())
	require.Equal(t, a.Best.Tensors(), b.Best.Tensors())
	a.Counts.Spent, b.Counts.Spent = 0, 0
	require.Equal(t, a.Counts, b.Counts)
	for i := range a.Curve {
		a.Curve[i].Seconds, b.Curve[i].Seconds = 0, 0
	}
	require.Equal(t, a.Curve, b.Curve)
}

func TestWorkersChangeNothing(t *testing.T) {
	one, three := open(t, tiny(), 1), open(t, tiny(), 3)
	require.NoError(t, one.Go(t.Context(), nil))
	require.NoError(t, three.Go(t.Context(), nil))
	same(t, one, three)
	require.Equal(t, 2, one.Counts.Gated)
	require.NotZero(t, one.Counts.Games)
}

func TestAResumedRunGoesOnAsBefore(t *testing.T) {
	conf := tiny()
	conf.Keep = 3
	whole, first := open(t, conf, 1), open(t, conf, 1)
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
	again, err := Resume(task.WinTetris, path, 2)
	require.NoError(t, err)
	defer func() { require.NoError(t, again.Close()) }()
	require.NoError(t, again.Go(t.Context(), nil))
	same(t, whole, again)

	_, err = Resume(task.WinTetris, filepath.Join(t.TempDir(), "none"), 1)
	require.Error(t, err)
	net := filepath.Join(t.TempDir(), "net")
	require.NoError(t, mlp.Save(net, whole.Net(), task.WinTetris.Facts(nil)))
	_, err = Resume(task.WinTetris, net, 1)
	require.ErrorContains(t, err, "not a saved run")
}

// TestReturns works one path out by hand: two steps, the end, a game that is cut off.
func TestReturns(t *testing.T) {
	s := &stretch{steps: []step{
		{value: 1, reward: 9},
		{value: 2, reward: 10, ended: true, last: 3},
		{value: 4, reward: 9},
		{value: 8, reward: 20},
		{value: 16, reward: 30, cut: true},
		{value: 5, reward: 1, cut: true},
	}}
	y, ok := make([]float32, 6), make([]bool, 6)
	s.returns(0.25, 0.5, y, ok)
	require.Equal(t, []bool{true, true, true, true, false, false}, ok)
	require.Equal(t, float32(3), y[1])
	require.Equal(t, float32(10+0.5*(0.75*2+0.25*3)), y[0])
	require.Equal(t, float32(30+0.5*16), y[3])
	require.Equal(t, float32(20+0.5*(0.75*8+0.25*y[3])), y[2])
}

// TestPlans has a run learn from a planner: first the hand-tuned one, then the net's.
func TestPlans(t *testing.T) {
	c := tiny()
	c.Iterations, c.Rounds, c.Keep, c.Warm, c.Late, c.Gates, c.GateGames, c.GateSteps = 6, 12, 2, 0.5, 1, 1, 1, 5
	runs := [2]*Run{}
	for k := range runs {
		r, err := New(task.Dropblox, c, nil, 1+k)
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		require.NoError(t, r.Step())
		for _, s := range r.slots {
			require.NotEmpty(t, s.steps)
			require.Len(t, s.x, len(s.steps)*len(task.Dropblox.Features))
		}
		require.NoError(t, r.Go(t.Context(), nil))
		require.Len(t, r.kept, c.Keep*c.Games)
		runs[k] = r
	}
	same(t, runs[0], runs[1])
}

// A plan's worth follows what later plans make of it: points are those where plans lead to.
func TestFollowsPlans(t *testing.T) {
	net, err := mlp.New([]mlp.Layer{{In: len(task.Dropblox.Features), Out: 1, W: make([]float32, len(task.Dropblox.Features)), B: []float32{0.5}}})
	require.NoError(t, err)
	c := newChooser(task.Dropblox, 4)
	c.use(net, true)
	s := newSlot(task.Dropblox, 3)
	s.start(1)
	unit, leaf := task.Dropblox.Solo.Unit, 0
	for n := 0; ; n++ {
		s.follow(c, 0)
		if s.state.Acting() == 0 {
			break
		}
		if n > 0 && len(s.steps) > 0 && s.leaf != leaf {
			require.InDelta(t, float64(s.leaf-leaf)*unit, s.steps[len(s.steps)-1].reward, 1e-6)
		}
		leaf = s.leaf
	}
	last := s.steps[len(s.steps)-1]
	require.True(t, last.ended)
	require.InDelta(t, float64(s.state.Score(0)-s.leaf)*unit, last.last, 1e-6)
	s.start(1)
	before := len(s.steps)
	s.follow(c, 1) // a random choice: no plan
	require.Len(t, s.steps, before)
}

// TestItLearns compares a short run with where it starts.
func TestItLearns(t *testing.T) {
	c := Default()
	c.Games, c.Rounds, c.Iterations, c.Gates, c.GateGames, c.GateSteps, c.Mean = 32, 32, 120, 1, 20, 2000, 10
	c.Batch, c.Rate, c.Lambda, c.Late = 64, 3e-3, 0.8, 0.8
	r := open(t, c, 2)
	_, err := r.gate(t.Context())
	require.NoError(t, err)
	before := r.Curve[0].PerGame
	r.Counts.Gated = 0
	require.NoError(t, r.Go(t.Context(), nil))
	t.Logf("%.1f lines a game at first, %.1f after %d choices", before, r.Curve[1].PerGame, r.Counts.Moves)
	require.Less(t, before, 1.)
	require.Greater(t, r.Curve[1].PerGame, 10.)
}

func TestBadConfigsAreNamed(t *testing.T) {
	for says, change := range map[string]func(*Config){
		"lambda is 2":         func(c *Config) { c.Lambda = 2 },
		"last rate is 0":      func(c *Config) { c.RateEnd = 0 },
		"keep is 0":           func(c *Config) { c.Keep = 0 },
		"rows are kept":       func(c *Config) { c.Keep = 1 << 15 },
		"games is 0":          func(c *Config) { c.Games = 0 },
		"one of the two":      func(c *Config) { c.For = 1 },
		"gate steps is -1":    func(c *Config) { c.GateSteps = -1 },
		"of 0 iterations and": func(c *Config) { c.Iterations = 0 },
	} {
		c := tiny()
		change(&c)
		_, err := New(task.WinTetris, c, nil, 1)
		require.ErrorContains(t, err, says)
	}
	_, err := New(task.BlockBattle, tiny(), nil, 1)
	require.ErrorIs(t, err, ErrNotSolo)
}
