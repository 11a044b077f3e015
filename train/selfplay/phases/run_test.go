package phases

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/datasets/record"
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

// openFrom is open with a net of random weights to start from.
func openFrom(t *testing.T, c Config, workers int) *selfplay.Run {
	t.Helper()
	r, err := selfplay.New(games.BlockBattle, &c, startNet(t, games.BlockBattle, c), workers)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func open(t *testing.T, c Config, workers int) *selfplay.Run {
	t.Helper()
	r, err := selfplay.New(games.BlockBattle, &c, nil, workers)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// content is what Save writes, without times and records.
func content(t *testing.T, r *selfplay.Run) ([]mlp.Tensor, map[string]any) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, r.Save(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	tensors, meta, err := mlp.ParseTensors(data)
	require.NoError(t, err)
	var run map[string]any
	require.NoError(t, json.Unmarshal([]byte(meta["run"]), &run))
	for _, name := range []string{"spent", "gating", "last_gate", "cpu"} {
		delete(run["counts"].(map[string]any), name)
	}
	if curve, ok := run["curve"].([]any); ok {
		for _, p := range curve {
			delete(p.(map[string]any), "seconds")
			delete(p.(map[string]any), "cpu")
		}
	}
	delete(run, "recording")
	return slices.DeleteFunc(tensors, func(x mlp.Tensor) bool { return x.Name == "record" }), run
}

func requireSame(t *testing.T, a, b *selfplay.Run) {
	t.Helper()
	x, meta := content(t, a)
	y, other := content(t, b)
	require.Equal(t, x, y)
	require.Equal(t, meta, other)
}

func TestSameSeedSameRun(t *testing.T) {
	for name, config := range map[string]func(uint64) Config{"results": small, "backup": backed, "opponents": opposed} {
		var runs []*selfplay.Run
		for _, x := range []struct {
			seed    uint64
			workers int
		}{{1, 1}, {1, 1}, {1, 3}, {2, 1}} {
			r := open(t, config(x.seed), x.workers)
			require.NoError(t, r.Go(context.Background(), nil))
			require.True(t, r.Done())
			require.Len(t, r.Curve, r.Options.Gates)
			runs = append(runs, r)
		}
		requireSame(t, runs[0], runs[1])
		requireSame(t, runs[0], runs[2])
		require.NotEqual(t, runs[0].Net().Tensors(), runs[3].Net().Tensors(), name)
		require.NotEqual(t, runs[0].Best.Tensors(), runs[3].Best.Tensors(), name)
	}
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

// A run that is stopped after every step and gate, saved and resumed ends where it would have.
func TestResumeLosesNothing(t *testing.T) {
	stopping(t, func(r *selfplay.Run, _ int) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		return r.Go(ctx, func(bool) error { cancel(); return nil })
	}, func(whole *selfplay.Run, parts, cut int) {
		require.Equal(t, whole.Counts.Iterations+whole.Counts.Gated, parts)
	})
}

// So does one that is stopped in the middle of rollouts.
func TestStopInARolloutLosesNothing(t *testing.T) {
	stopping(t, func(r *selfplay.Run, part int) error {
		ctx := &ending{Context: context.Background()}
		ctx.left.Store(int64(25 + 50*part))
		return r.Go(ctx, nil)
	}, func(_ *selfplay.Run, _, cut int) { require.Positive(t, cut) })
}

// stopping plays runs in parts. In the end it tells how many there were, and how many of them ended in a rollout.
func stopping(t *testing.T, play func(r *selfplay.Run, part int) error, told func(whole *selfplay.Run, parts, cut int)) {
	for _, c := range []Config{small(5), backed(5), opposed(5)} {
		whole := open(t, c, 1)
		require.NoError(t, whole.Go(context.Background(), nil))
		path := filepath.Join(t.TempDir(), "state")
		r := open(t, c, 1)
		parts, cut := 0, 0
		for ; !r.Done(); parts++ {
			before, gates := r.Counts, r.Counts.Gated
			require.NoError(t, play(r, parts))
			if r.Counts.Gated == gates && r.Counts.Iterations == before.Iterations {
				cut++
				require.Equal(t, before, r.Counts)
			}
			require.NoError(t, r.Save(path))
			var err error
			r, err = selfplay.Resume(games.BlockBattle, path, new(Config), 1+parts%2)
			require.NoError(t, err)
			defer func(r *selfplay.Run) { require.NoError(t, r.Close()) }(r)
		}
		told(whole, parts, cut)
		requireSame(t, whole, r)
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
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
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

// Shares of the budget follow one another.
func TestLearnersHaveTheirShares(t *testing.T) {
	r := open(t, backed(1), 1)
	for i := range r.Options.Iterations {
		require.NoError(t, r.Step())
		_, results := r.Learner.(*lambdaLearner)
		require.Equal(t, i < 2, results, "iteration %d", i)
	}
}

func TestResumeRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	_, err := selfplay.Resume(games.BlockBattle, path, new(Config), 1)
	require.ErrorIs(t, err, os.ErrNotExist)
	r := open(t, backed(1), 1)
	for range 4 {
		require.NoError(t, r.Step())
	}
	require.NoError(t, r.Save(path))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, c := range map[string]struct{ from, to, says string }{
		"other game":  {`\"blockbattle\"`, `\"blockbottle\"`, "blockbottle"},
		"config":      {`\"Batch\":32`, `\"Batch\":-2`, "batch is -2"},
		"no means":    {`"adam.mean.1"`, `"adam.mean.9"`, "numbers as adam.mean.1"},
		"no base":     {`"base.`, `"bass.`, "no net"},
		"no mean":     {`"net.`, `"not.`, "no net"},
		"no siblings": {`"stage.pairs"`, `"stage.peers"`, "pairs"},
		"older":       {`\"version\":3`, `\"version\":2`, "version 2 of the format, this program reads version 3: continue it with"},
		"no run":      {`"run"`, `"rum"`, "not a saved run"},
		"newer":       {`\"version\":3`, `\"version\":4`, "version 4 of the format, this program reads version 3"},
		"other rules": {`\"rules\":1`, `\"rules\":2`, "a run of blockbattle, rules version 2; want blockbattle, version 1"},
		"fewer games": {`\"Games\":4`, `\"Games\":3`, "4 games in progress, want 3"},
	} {
		require.Contains(t, string(good), c.from, name)
		bad := bytes.ReplaceAll(good, []byte(c.from), []byte(c.to))
		require.NoError(t, selfplay.Seal(bad))
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err := selfplay.Resume(games.BlockBattle, path, new(Config), 1)
		require.ErrorContains(t, err, c.says, name)
	}
	require.NoError(t, os.WriteFile(path, good[:len(good)-1], 0o600))
	_, err = selfplay.Resume(games.BlockBattle, path, new(Config), 1)
	require.ErrorContains(t, err, "truncated")
}

// A state file with any one bit changed, or cut short, is refused.
func TestResumeRefusesChangedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	r := open(t, backed(1), 1)
	for range 4 {
		require.NoError(t, r.Step())
	}
	require.NoError(t, r.Save(path))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = selfplay.Resume(games.BlockBattle, path, new(Config), 1)
	require.NoError(t, err)
	refused := func(bad []byte, what string, at int) {
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err = selfplay.Resume(games.BlockBattle, path, new(Config), 1)
		require.Error(t, err, "%s at byte %d of %d", what, at, len(good))
	}
	for k := range 400 {
		at := k * (len(good) - 1) / 399
		bad := bytes.Clone(good)
		bad[at] ^= 1 << (k % 8)
		refused(bad, "a bit changed", at)
		refused(good[:at], "cut", at)
	}
	// A number in the JSON of the run, and the loss of the checksum itself.
	for _, c := range [][2]string{{`\"Iteration`, `\"iteration`}, {`"sha256"`, `"sha257"`}, {`\"version\":3`, `\"version\":1`}} {
		require.Contains(t, string(good), c[0])
		refused(bytes.Replace(good, []byte(c[0]), []byte(c[1]), 1), c[0], 0)
	}
	require.ErrorContains(t, err, "the checksum does not match")
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
		_, err := selfplay.New(games.BlockBattle, &c, nil, 1)
		require.ErrorContains(t, err, says)
	}
	alone, noDraws := *games.BlockBattle, backed(1)
	alone.Outcomes = 0
	_, err := selfplay.New(&alone, &noDraws, nil, 1)
	require.ErrorContains(t, err, "no draws")
}

// A run of a few seconds already learns: the loss falls and the net beats its first self.
func TestLearns(t *testing.T) {
	c := small(4)
	c.Games, c.Rounds, c.Iterations, c.Batch, c.Rate, c.Gates, c.GatePairs = 16, 32, 40, 64, 2e-3, 1, 30
	r := open(t, c, 2)
	first := r.Net()
	require.NoError(t, r.Go(context.Background(), nil))
	a, b := Net(r.Game, r.Net(), 1), Net(r.Game, first, 1)
	m := match.Match{Rules: r.Game.Rules, Players: []match.Player{a, b}, Units: 30, Seed: 9, Workers: 2}
	res, err := m.Play(context.Background())
	require.NoError(t, err)
	require.Greater(t, res.Meetings[0].Score.Value, 0.9)
}

// Recording changes nothing, and what is recorded replays, damaged starts and all.
func TestRecords(t *testing.T) {
	plain := open(t, small(7), 1)
	r := open(t, small(7), 2)
	recs := recording(t, r)
	for range 5 {
		require.NoError(t, plain.Step())
		require.NoError(t, r.Step())
	}
	requireSame(t, plain, r)
	started, all := 0, recs()
	require.NotEmpty(t, all)
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
	folder, err := selfplay.OpenFolder(t.TempDir(), r)
	require.NoError(t, err)
	require.NoError(t, r.RecordTo(path))
	return func() (all []*record.Record) {
		require.NoError(t, folder.Close())
		in, err := record.Open(path)
		require.NoError(t, err)
		defer in.Close()
		for rec, err := range in.All() {
			require.NoError(t, err)
			all = append(all, rec)
		}
		return all
	}
}
