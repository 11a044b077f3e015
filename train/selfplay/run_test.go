package selfplay

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/train/task"
	"blockyard/train/trainer"

	"github.com/stretchr/testify/require"
)

// small is a run of a second or so that goes through every phase.
func small(seed uint64) Config {
	c := Default()
	c.Seed, c.Games, c.Rounds, c.Iterations, c.Batch = seed, 6, 24, 8, 32
	c.Hidden = []int{8}
	c.Warm, c.Deep, c.DeepWidth, c.Explore, c.Versus, c.Late = 0.3, 0.3, 2, 0.1, 0.5, 0.3
	c.Actor, c.ActorBatch = 0.5, 64
	c.Gates, c.GatePairs, c.GatePly = 2, 2, 1
	return c
}

func open(t *testing.T, c Config, workers int) *Run {
	t.Helper()
	r, err := New(task.BlockBattle, c, nil, workers)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// weights are the bytes of a run's net and of the best one.
func weights(t *testing.T, r *Run) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, n := range []*mlp.Net{r.Net(), r.Best} {
		require.NoError(t, mlp.Write(&b, n, r.Game.Facts(nil)))
	}
	return b.Bytes()
}

func TestSameSeedSameWeights(t *testing.T) {
	var got [][]byte
	for _, x := range []struct {
		seed    uint64
		workers int
	}{{1, 1}, {1, 1}, {1, 3}, {2, 1}} {
		r := open(t, small(x.seed), x.workers)
		require.NoError(t, r.Go(context.Background(), nil))
		require.True(t, r.Done())
		require.Len(t, r.Curve, 2)
		require.NotZero(t, r.Counts.Pairs)
		got = append(got, weights(t, r))
	}
	require.Equal(t, got[0], got[1], "the same run twice")
	require.Equal(t, got[0], got[2], "with more workers")
	require.NotEqual(t, got[0], got[3], "another seed")
}

// A run that is stopped wherever it likes, saved and resumed ends where it would have.
func TestResumeLosesNothing(t *testing.T) {
	whole := open(t, small(5), 1)
	require.NoError(t, whole.Go(context.Background(), nil))

	path := filepath.Join(t.TempDir(), "state")
	r := open(t, small(5), 1)
	parts := 0
	for !r.Done() {
		ctx, cancel := context.WithCancel(context.Background())
		require.NoError(t, r.Go(ctx, func(bool) error { cancel(); return nil }))
		cancel()
		require.NoError(t, r.Save(path))
		var err error
		r, err = Resume(task.BlockBattle, path, 2)
		require.NoError(t, err)
		defer func(r *Run) { require.NoError(t, r.Close()) }(r)
		parts++
	}
	require.Equal(t, whole.Counts.Iterations+whole.Counts.Gated, parts)
	require.Equal(t, weights(t, whole), weights(t, r))
	require.Equal(t, whole.net.Tensors(), r.net.Tensors())
	for _, x := range [][2]*trainer.Trainer{{whole.trainer, r.trainer}, {whole.actor.trainer, r.actor.trainer}} {
		want, n := x[0].State()
		got, m := x[1].State()
		require.Equal(t, want, got)
		require.Equal(t, n, m)
	}
	a, b := whole.Counts, r.Counts
	a.Spent, b.Spent = 0, 0
	require.Equal(t, a, b)
	for i := range whole.Curve {
		whole.Curve[i].Seconds, r.Curve[i].Seconds = 0, 0
	}
	require.Equal(t, whole.Curve, r.Curve)
}

func TestStopInAGateLosesNothing(t *testing.T) {
	c := small(3)
	c.GatePairs = 5000
	r := open(t, c, 1)
	for !r.GateDue() {
		require.NoError(t, r.Step())
	}
	before := r.Counts
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.NoError(t, r.Go(ctx, func(bool) error { t.Fatal("a gate cut short counts for nothing"); return nil }))
	require.Equal(t, before, r.Counts)
	require.Empty(t, r.Curve)
	require.True(t, r.GateDue())
}

func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	_, err := Resume(task.BlockBattle, path, 1)
	require.ErrorIs(t, err, os.ErrNotExist)
	r := open(t, small(1), 1)
	require.NoError(t, r.hire(r.net))
	require.NoError(t, r.Save(path))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"cut":        {good[:len(good)-1], "truncated"},
		"other game": {bytes.Replace(good, []byte(`\"blockbattle\"`), []byte(`\"blockbottle\"`), 1), "blockbottle"},
		"config":     {bytes.Replace(good, []byte(`\"Batch\":32`), []byte(`\"Batch\":-2`), 1), "batch is -2"},
		"no actor":   {bytes.Replace(good, []byte(`\"Actor\":0.5`), []byte(`\"Actor\":0.0`), 1), "an actor"},
		"no means":   {bytes.Replace(good, []byte(`"actor.adam.mean.1"`), []byte(`"actor.adam.mean.9"`), 1), "the actor"},
		"no mean":    {bytes.ReplaceAll(good, []byte(`"actor mean.`), []byte(`"actor mien.`)), "without weights"},
		"no run":     {bytes.Replace(good, []byte(`"run"`), []byte(`"rum"`), 1), "not a saved run"},
	} {
		require.NotEqual(t, good, c.file, name)
		require.NoError(t, os.WriteFile(path, c.file, 0o600))
		_, err := Resume(task.BlockBattle, path, 1)
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestConfigRefuses(t *testing.T) {
	for name, f := range map[string]func(*Config){
		"lambda":     func(c *Config) { c.Lambda = 1.5 },
		"nan":        func(c *Config) { c.Warm = math.NaN() },
		"no budget":  func(c *Config) { c.Iterations = 0 },
		"two":        func(c *Config) { c.For = time.Second },
		"rate":       func(c *Config) { c.RateTo = 0 },
		"games":      func(c *Config) { c.Games = 0 },
		"hidden":     func(c *Config) { c.Hidden = []int{0} },
		"ply":        func(c *Config) { c.GatePly = 4 },
		"others":     func(c *Config) { c.Others = -1 },
		"actor":      func(c *Config) { c.Actor = 1.1 },
		"heat":       func(c *Config) { c.Temperature = 0 },
		"step":       func(c *Config) { c.Step = math.NaN() },
		"pairs":      func(c *Config) { c.ActorBatch = 0 },
		"actor rate": func(c *Config) { c.ActorTo = 0 },
		"deep width": func(c *Config) { c.DeepWidth = 0 },
	} {
		c := small(1)
		f(&c)
		_, err := New(task.BlockBattle, c, nil, 1)
		require.Error(t, err, name)
	}
}

// A run of a few seconds already learns: the loss falls and the net beats its first self.
func TestLearns(t *testing.T) {
	c := small(4)
	c.Games, c.Rounds, c.Iterations, c.Batch, c.Warm, c.Deep, c.Gates, c.GatePairs = 16, 32, 40, 64, 1, 0, 1, 30
	r := open(t, c, 2)
	first := r.Net()
	require.NoError(t, r.Go(context.Background(), nil))
	res, err := match.TwoPlayer{Rules: r.Game.Rules, A: Net(r.Game, r.Net(), 1), B: Net(r.Game, first, 1), Pairs: 30, Seed: 9, Workers: 2}.Play(context.Background())
	require.NoError(t, err)
	require.Greater(t, res.Pairs.Score(), 0.9)
}

// Choosing deep, with no first choice left out, is what the search for play finds.
func TestDeepAgreesWithSearch(t *testing.T) {
	r := open(t, small(6), 1)
	c := r.players[0]
	c.use(r.Net())
	c.deep, c.width = true, 1000
	agent, err := Net(r.Game, r.Net(), 2).New(0)
	require.NoError(t, err)
	var rand env.Rand
	rand.Seed(8)
	s := r.Game.Rules.New(2)
	for range 50 {
		s.Reset(rand.Next())
		r.Game.Damage(s, &rand)
		want, err := agent.Act(context.Background(), s, 0)
		require.NoError(t, err)
		got, same := c.byNet(s, 0), slices.Index(c.root.legal, want)
		if got != same { // two ways to the same board
			require.InDelta(t, c.second(c.root.states[c.find(same)], 0), c.second(c.root.states[c.find(got)], 0), 1e-5)
		}
	}
}

// Recording changes nothing, and what is recorded replays, damaged starts and all.
func TestRecords(t *testing.T) {
	plain := open(t, small(7), 1)
	r := open(t, small(7), 2)
	var recs []*record.Record
	r.Record = func(rec *record.Record) error { recs = append(recs, rec); return nil }
	for range 5 {
		require.NoError(t, plain.Step())
		require.NoError(t, r.Step())
	}
	x, _ := plain.trainer.State()
	y, _ := r.trainer.State()
	require.Equal(t, x, y)
	require.NotEmpty(t, recs)
	started := 0
	for _, rec := range recs {
		require.NoError(t, record.Check(r.Game.Rules, rec))
		if rec.Start != nil {
			started++
		}
	}
	require.NotZero(t, started)
	require.Less(t, started, len(recs))
}
