package phases

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// small is a run of a second or so that is all TD(λ).
func small(seed uint64) Config {
	c := Default(games.BlockBattle)
	c.Results, c.Backup, c.Rate = 0, 0, 2e-4
	c.Seed, c.Games, c.Rounds, c.Iterations, c.Batch = seed, 6, 24, 8, 32
	c.Hidden = []int{8}
	c.DeepWidth, c.Explore, c.Versus, c.Late = 2, 0.1, 0.5, 0.3
	c.Gates, c.GatePairs, c.GatePly = 2, 2, 1
	return c
}

// backed is a run of a second or so, a quarter of it TD(λ), then a backup.
func backed(seed uint64) Config {
	c := small(seed)
	c.Results, c.Backup, c.Samples, c.Rounds = 0.25, 0.75, 6, 32
	c.Games, c.Gates = 4, 4
	return c
}

// opposed is backed against three opponents.
func opposed(seed uint64) Config {
	c := backed(seed)
	c.Opponents = []string{"combo", "hand", "digger"}
	return c
}

func open(t *testing.T, c Config, workers int) *selfplay.Run {
	t.Helper()
	return openGame(t, games.BlockBattle, c, workers)
}

// openGame begins a run: one that is all backup with a net of random weights.
func openGame(t *testing.T, g *games.Game, c Config, workers int) *selfplay.Run {
	t.Helper()
	var from *mlp.Net
	if c.Backup == 1 {
		random := c
		random.Backup = 0
		from = openGame(t, g, random, 1).Net()
	}
	r := envtest.Must(selfplay.New(g, &c, from, workers))
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// requireSame requires that two runs have come to the same: that Save writes the same, but for times. These it clears.
func requireSame(t *testing.T, a, b *selfplay.Run) {
	t.Helper()
	var files [2][]byte
	for k, r := range []*selfplay.Run{a, b} {
		r.Counts.Spent, r.Counts.CPU, r.Counts.Gating, r.Counts.LastGate = 0, 0, 0, 0
		for i := range r.Curve {
			r.Curve[i].Seconds, r.Curve[i].CPU = 0, 0
		}
		path := filepath.Join(t.TempDir(), "state")
		require.NoError(t, r.Save(path))
		files[k] = envtest.Must(os.ReadFile(path))
	}
	require.True(t, bytes.Equal(files[0], files[1]))
}

// An ending is a context that ends when it has been asked a number of times.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A run that is stopped after every step and gate, or in the middle of rollouts, saved and resumed by another number of
// workers ends where it would have. One with another seed ends elsewhere.
func TestStopInARolloutLosesNothing(t *testing.T) {
	for _, c := range []Config{small(5), opposed(5)} {
		whole := open(t, c, 1)
		require.NoError(t, whole.Go(t.Context(), nil))
		require.Len(t, whole.Curve, c.Gates)
		for _, inside := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "state")
			r := open(t, c, 1)
			parts, inRollouts := 0, 0
			for ; !r.Done(); parts++ {
				before := r.Counts
				ctx, stop := context.WithCancel(t.Context())
				after := func(bool) error { stop(); return nil }
				if inside {
					e := &ending{Context: ctx}
					e.left.Store(int64(25 + 50*parts))
					ctx, after = e, nil
				}
				require.NoError(t, r.Go(ctx, after))
				stop()
				if r.Counts.Gated == before.Gated && r.Counts.Iterations == before.Iterations {
					inRollouts++
					require.Equal(t, before, r.Counts)
				}
				require.NoError(t, r.Save(path))
				r = envtest.Must(selfplay.Resume(games.BlockBattle, path, new(Config), 1+parts%3))
				defer func(r *selfplay.Run) { require.NoError(t, r.Close()) }(r)
			}
			require.Equal(t, inside, inRollouts > 0)
			require.True(t, inside || parts == c.Iterations+c.Gates)
			requireSame(t, whole, r)
		}
		c.Seed++
		other := open(t, c, 1)
		require.NoError(t, other.Go(t.Context(), nil))
		require.NotEqual(t, whole.Best.Tensors(), other.Best.Tensors())
	}
}

func TestStopInAGateLosesNothing(t *testing.T) {
	c := small(3)
	c.GatePairs = 5000
	r := open(t, c, 1)
	for !r.GateDue() {
		require.NoError(t, r.Step())
	}
	before := r.Counts
	ctx, cancel := context.WithCancel(t.Context())
	r.OnGate = func(int, int) { cancel() }
	require.NoError(t, r.Go(ctx, func(bool) error { t.Fatal("a gate cut short counts for nothing"); return nil }))
	require.Equal(t, before, r.Counts)
	require.Empty(t, r.Curve)
	require.True(t, r.GateDue())
}

// A gate says how far it is: of all games against the baseline and the best net.
func TestGateReports(t *testing.T) {
	r := open(t, small(3), 1)
	var got [][2]int
	r.OnGate = func(done, of int) { got = append(got, [2]int{done, of}) }
	require.NoError(t, r.Go(t.Context(), nil))
	require.Equal(t, [][2]int{{2, 4}, {4, 4}, {2, 8}, {4, 8}, {6, 8}, {8, 8}}, got)
	require.Equal(t, 4, r.Curve[1].Games)
}

// halfway saves a run in the middle of its backup. resume continues what the file holds.
func halfway(t *testing.T) (good []byte, resume func(file []byte) error) {
	path := filepath.Join(t.TempDir(), "state")
	resume = func(file []byte) error {
		require.NoError(t, os.WriteFile(path, file, 0o600))
		r, err := selfplay.Resume(games.BlockBattle, path, new(Config), 1)
		if err == nil {
			require.NoError(t, r.Close())
		}
		return err
	}
	r := open(t, backed(1), 1)
	for range 4 {
		require.NoError(t, r.Step())
	}
	require.NoError(t, r.Save(path))
	good = envtest.Must(os.ReadFile(path))
	require.NoError(t, resume(good))
	return good, resume
}

func TestResumeRefuses(t *testing.T) {
	good, resume := halfway(t)
	for name, c := range map[string]struct{ from, to, says string }{
		"other game":  {`\"blockbattle\"`, `\"blockbottle\"`, "blockbottle"},
		"config":      {`\"Batch\":32`, `\"Batch\":-2`, "batch is -2"},
		"no means":    {`"adam.mean.1"`, `"adam.mean.9"`, "numbers as adam.mean.1"},
		"no base":     {`"base.`, `"bass.`, "no net"},
		"no mean":     {`"net.`, `"not.`, "no net"},
		"no siblings": {`"stage.pairs"`, `"stage.peers"`, "pairs"},
		"older":       {`\"version\":3`, `\"version\":2`, "version 2 of the format, this program reads version 3: continue it with"},
		"no run":      {`"run"`, `"rum"`, "not a saved run"},
		"other rules": {`\"rules\":1`, `\"rules\":2`, "a run of blockbattle, rules version 2; want blockbattle, version 1"},
		"fewer games": {`\"Games\":4`, `\"Games\":3`, "4 games in progress, want 3"},
	} {
		require.Contains(t, string(good), c.from, name)
		bad := bytes.ReplaceAll(good, []byte(c.from), []byte(c.to))
		require.NoError(t, selfplay.Seal(bad))
		require.ErrorContains(t, resume(bad), c.says, name)
	}
	require.ErrorContains(t, resume(good[:len(good)-1]), "truncated")
	_, err := selfplay.Resume(games.BlockBattle, filepath.Join(t.TempDir(), "none"), new(Config), 1)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A state file with any one bit changed, or cut short, is refused.
func TestResumeRefusesChangedFiles(t *testing.T) {
	good, resume := halfway(t)
	for k := range 200 {
		at := k * (len(good) - 1) / 199
		bad := bytes.Clone(good)
		bad[at] ^= 1 << (k % 8)
		require.Error(t, resume(bad), "a bit changed at byte %d of %d", at, len(good))
		require.Error(t, resume(good[:at]), "cut at byte %d of %d", at, len(good))
	}
	// A number in the JSON of the run, and the loss of the checksum itself.
	for _, c := range [][2]string{{`\"Iteration`, `\"iteration`}, {`"sha256"`, `"sha257"`}, {`\"version\":3`, `\"version\":1`}} {
		require.Contains(t, string(good), c[0])
		bad := bytes.Replace(good, []byte(c[0]), []byte(c[1]), 1)
		require.ErrorContains(t, resume(bad), "the checksum does not match")
	}
}

func TestConfigRefuses(t *testing.T) {
	for says, f := range map[string]func(*Config){
		"lambda is 1.5":               func(c *Config) { c.Lambda = 1.5 },
		"a budget of 0":               func(c *Config) { c.Iterations = 0 },
		"and 1s: set one":             func(c *Config) { c.For = time.Second },
		"rate end is 0":               func(c *Config) { c.RateEnd = 0 },
		"games is 0":                  func(c *Config) { c.Games = 0 },
		"hidden layer is 0":           func(c *Config) { c.Hidden = []int{0} },
		"gate ply is 4":               func(c *Config) { c.GatePly = 4 },
		"deep width is 0":             func(c *Config) { c.DeepWidth = 0 },
		"results is -0.5":             func(c *Config) { c.Results, c.Backup = -0.5, 0.5 },
		"results 0.5 and backup 0:":   func(c *Config) { c.Results = 0.5 },
		"gate elo is -1":              func(c *Config) { *c = backed(1); c.GateElo = -1 },
		"results 0.25 and backup 1.5": func(c *Config) { *c = backed(1); c.Backup = 1.5 },
		"samples is 0":                func(c *Config) { *c = backed(1); c.Samples = 0 },
		"look is -1":                  func(c *Config) { *c = backed(1); c.Look = -1 },
		"look is 2: a search":         func(c *Config) { *c = backed(1); c.Look = 2 },
		"rate backup is 0":            func(c *Config) { *c = backed(1); c.RateBackup = 0 },
		"300 opponents":               func(c *Config) { c.Opponents = slices.Repeat([]string{"hand"}, 300) },
		`without "own hole rows x": no feature of the game begins with that`: func(c *Config) {
			c.Without = []string{"own", "own hole rows x"}
		},
		`without [""]: no feature is left`: func(c *Config) { c.Without = []string{""} },
		`unknown opponent "nobody"; there are hand, terms6, combo, tspin, quad, skipper, digger`: func(c *Config) {
			c.Opponents = []string{"hand", "nobody"}
		},
	} {
		c := small(1)
		f(&c)
		require.ErrorContains(t, envtest.Failed(selfplay.New(games.BlockBattle, &c, nil, 1)), says)
	}
	alone, noDraws := *games.BlockBattle, backed(1)
	alone.Outcomes = 0
	require.ErrorContains(t, envtest.Failed(selfplay.New(&alone, &noDraws, nil, 1)), "no draws")
}

// A run of a few seconds already learns: the loss falls and the net beats its first self.
func TestLearns(t *testing.T) {
	c := small(4)
	c.Games, c.Rounds, c.Iterations, c.Batch, c.Rate, c.Gates, c.GatePairs = 16, 32, 40, 64, 2e-3, 1, 30
	r := open(t, c, 2)
	first := r.Net()
	require.NoError(t, r.Go(t.Context(), nil))
	a, b := Net(r.Game, r.Net(), 1), Net(r.Game, first, 1)
	m := match.Match{Rules: r.Game.Rules, Players: []match.Player{a, b}, Units: 30, Seed: 9, Workers: 2}
	res := envtest.Must(m.Play(t.Context()))
	require.Greater(t, res.Meetings[0].Score.Value, 0.9)
}

// Recording changes nothing, and what is recorded replays, damaged starts and all.
func TestRecords(t *testing.T) {
	plain, r := open(t, small(7), 1), open(t, small(7), 2)
	recs := recording(t, r)
	for range 5 {
		require.NoError(t, plain.Step())
		require.NoError(t, r.Step())
	}
	require.Equal(t, plain.Net().Tensors(), r.Net().Tensors())
	started, all := 0, recs()
	for _, rec := range all {
		require.NoError(t, record.Check(r.Game.Rules, rec))
		if rec.Start != nil {
			started++
		}
	}
	require.NotZero(t, started)
	require.Less(t, started, len(all))
}

// recording lets a run record its games from now on; recs returns them at the end.
func recording(t *testing.T, r *selfplay.Run) (recs func() []*record.Record) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "games.jsonl")
	folder := envtest.Must(selfplay.OpenFolder(t.TempDir(), r))
	require.NoError(t, r.RecordTo(path))
	return func() (all []*record.Record) {
		require.NoError(t, folder.Close())
		in := envtest.Closing(t, envtest.Must(record.Open(path)))
		for rec, err := range in.All() {
			require.NoError(t, err)
			all = append(all, rec)
		}
		return all
	}
}

// BenchmarkStep is self-play with learning: games and choices per second.
func BenchmarkStep(b *testing.B) {
	for name, share := range map[string]float64{"results": 0, "siblings": 1 - 1e-6} {
		b.Run(name, func(b *testing.B) {
			c := Default(games.BlockBattle)
			c.Results, c.Backup, c.Gates = 1e-6*math.Ceil(share), share, 1
			r := envtest.Closing(b, envtest.Must(selfplay.New(games.BlockBattle, &c, nil, 1)))
			for b.Loop() {
				require.NoError(b, r.Step())
			}
			s := b.Elapsed().Seconds()
			b.ReportMetric(float64(r.Counts.Moves)/s, "choices/s")
			b.ReportMetric(float64(r.Counts.Visited)/s, "afterstates/s")
			b.ReportMetric(float64(r.Counts.Games)/s, "games/s")
		})
	}
}
