package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/ops"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"
)

// monitored begins a run and serves its metrics.
func monitored(t *testing.T, g *games.Game, c selfplay.Algorithm) (run *selfplay.Run, seen *monitor, url string) {
	run = envtest.Must(selfplay.New(g, c, nil, 1))
	seen = newMonitor(run)
	f := ops.Flags{HTTP: "127.0.0.1:0"}
	site := envtest.Must(f.Start(f.Logger(t.Output()), seen.metrics()))
	t.Cleanup(func() { site.Close(); require.NoError(t, run.Close()) })
	return run, seen, site.URL()
}

// Prometheus' parser reads what a run has done: before it, after its first step, and at the end.
func TestTrainingMetrics(t *testing.T) {
	c := phases.Default(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Hidden, c.Batch, c.Gates, c.GatePairs, c.GatePly = 4, 48, 4, []int{4}, 32, 2, 2, 1
	run, seen, url := monitored(t, games.BlockBattle, &c)
	page := opstest.Scrape(t, url)
	require.Zero(t, page.Value(t, "blockyard_train_iterations_total"))
	require.NotContains(t, page, "blockyard_train_gate_score_ratio", "no gate yet")
	require.NoError(t, run.Step())
	seen.after()
	page = opstest.Scrape(t, url)
	require.EqualValues(t, 1, page.Value(t, "blockyard_train_iterations_total"))
	require.EqualValues(t, 2*4*48, page.Value(t, "blockyard_train_choices_total"), "both seats act in every step")
	require.Equal(t, 0.25, page.Value(t, "blockyard_train_progress_ratio"))
	require.NoError(t, run.Go(t.Context(), func(bool) error { seen.after(); return nil }))

	page = opstest.Scrape(t, url)
	dashboard := []byte(read("../../rpc/deploy/grafana/blockyard.json"))
	require.Empty(t, page.Missing(dashboard, "blockyard_train_"), "the dashboard shows metrics that do not exist")
	n, last := run.Counts, run.Curve[len(run.Curve)-1]
	for name, want := range map[string]float64{
		"iterations_total": 4, "games_total": float64(n.Games), "choices_total": float64(n.Moves),
		"samples_total": float64(n.Rows), "evaluations_total": float64(n.Visited), "gates_total": 2, "loss": n.Loss,
		"progress_ratio": 1, "gate_score_ratio": last.Score, "gate_low_score_ratio": last.Low,
		"gate_high_score_ratio": last.High, "gate_versus_best_ratio": last.VersusBest,
	} {
		require.Equal(t, want, page.Value(t, "blockyard_train_"+name), name)
	}
	for _, name := range []string{"games_total", "kept_gates_total", "play_seconds_total", "fit_seconds_total"} {
		require.Positive(t, page.Value(t, "blockyard_train_"+name), name)
	}
	require.NotContains(t, page, "blockyard_train_gate_points", "this is a game of two seats")
}

// A game of one seat has points instead of a score.
func TestMetricsOfOneSeat(t *testing.T) {
	c := single.Default(games.WinTetris)
	c.Games, c.Rounds, c.Iterations, c.Hidden, c.Batch, c.Gates, c.GateGames, c.GateSteps = 2, 8, 1, []int{4}, 8, 1, 2, 20
	run, seen, url := monitored(t, games.WinTetris, &c)
	require.NoError(t, run.Go(t.Context(), func(bool) error { seen.after(); return nil }))
	page := opstest.Scrape(t, url)
	require.Equal(t, run.Curve[0].PerGame, page.Value(t, "blockyard_train_gate_points"))
	require.NotContains(t, page, "blockyard_train_gate_score_ratio")
}

// The learner and a worker of a cluster serve metrics while they train, which Prometheus' parser reads, and log lines of
// JSON. The dashboard shows metrics that exist. A wrong address leaves no run behind.
func TestClusterMetrics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.ErrorContains(t, command(t, runIn(dir, tiny, "--http", ":9090")...), "--http :9090: no host")
	require.NoDirExists(t, dir)

	stderr, write := envtest.Must2(os.Pipe())
	old := os.Stderr
	os.Stderr = write
	defer func() { os.Stderr = old }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lines := bufio.NewScanner(stderr)
	address := func() (url string) { // that is logged next
		for url == "" && lines.Scan() {
			var line struct{ Level, HTTP string }
			require.NoError(t, json.Unmarshal(lines.Bytes(), &line), lines.Text())
			require.Equal(t, "INFO", line.Level)
			url = line.HTTP
		}
		return url
	}
	served := []string{"--http", "127.0.0.1:0", "--log-format", "json"}
	l := beginLearner(t, ctx, runIn(dir, tiny, append(served, "--iterations=100000", "--cluster", "--listen", "127.0.0.1:0")...)...)
	learnerAt, left := address(), make(chan error, 1)
	go func() {
		left <- commandUntil(ctx, append(append(l.join, served...), "--name", "one", "--workers", "1")...)
	}()
	workerAt := address()
	var learner opstest.Page
	require.Eventually(t, func() bool {
		learner = opstest.Scrape(t, learnerAt)
		const name = "blockyard_cluster_tasks_total"
		return learner[name] != nil && learner.Value(t, name, "one") >= 8
	}, 2*time.Minute, 20*time.Millisecond)
	worker := opstest.Scrape(t, workerAt)
	for _, url := range []string{learnerAt, workerAt} {
		status, _ := opstest.Get(t, url+"/readyz")
		require.Equal(t, http.StatusOK, status)
	}
	dashboard := []byte(read("../../rpc/deploy/grafana/blockyard.json"))
	for prefix, page := range map[string]opstest.Page{"blockyard_cluster_": learner, "blockyard_worker_": worker} {
		require.Contains(t, string(dashboard), prefix)
		require.Empty(t, page.Missing(dashboard, prefix), "the dashboard shows metrics that do not exist")
	}
	require.Contains(t, learner, "blockyard_train_games_total")
	require.EqualValues(t, 1, learner.Value(t, "blockyard_cluster_workers"))
	require.Positive(t, learner.Value(t, "blockyard_cluster_busy_seconds_total", "one"))
	require.Zero(t, learner.Value(t, "blockyard_cluster_dropped_results_total", "one"))
	require.GreaterOrEqual(t, worker.Value(t, "blockyard_worker_tasks_total"), 8.0)
	require.Positive(t, worker.Value(t, "blockyard_worker_choices_total"))
	require.Positive(t, worker.Value(t, "blockyard_worker_busy_seconds_total"))
	require.Zero(t, worker.Value(t, "blockyard_worker_failed_tasks_total"))
	stop()
	require.NoError(t, <-left)
	require.NoError(t, <-l.ended)
	require.NoError(t, write.Close())
	require.Empty(t, address())
}

// Without a terminal a run tells how it goes in plain lines, not too many, in gates too.
func TestPlainLinesWithoutTerminal(t *testing.T) {
	c := phases.Default(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Hidden, c.Batch, c.Gates, c.GatePairs, c.GatePly = 2, 8, 100, []int{4}, 32, 1, 30, 1
	run := envtest.Must(selfplay.New(games.BlockBattle, &c, nil, 1))
	defer func() { require.NoError(t, run.Close()) }()
	var out strings.Builder
	p := newProgress(run, &out, new(ops.Flags).Logger(&out), true)
	now := time.Now()
	p.start, p.printed = now, now
	p.now = func() time.Time { now = now.Add(time.Second); return now }
	require.NoError(t, run.Go(t.Context(), func(gated bool) error { p.after(gated); return nil }))
	p.clear()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.NotContains(t, out.String(), "\r")
	require.Regexp(t, `level=INFO msg=training progress=0\..* score="no gate yet"`, lines[0])
	require.Regexp(t, `msg="gate is played" progress=1 gate=1 gates=1 games=\d+ of_games=60$`, lines[len(lines)-2])
	require.Regexp(t, `msg=gate gate=1 gates=1 .* kept=true .*no best yet  kept"$`, lines[len(lines)-1])
	require.NotRegexp(t, `=\d*\.\d{8}`, out.String(), "four significant digits")
	require.Equal(t, []any{"a", 0.3333, "b", 123500.0, "c", 7}, rounded([]any{"a", 1.0 / 3, "b", 123456.7, "c", 7}))
	require.Greater(t, len(lines), 8)
	require.Less(t, len(lines), 15, "130 seconds, a line every ten")
}
