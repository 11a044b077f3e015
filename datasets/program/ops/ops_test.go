package ops

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
)

var quiet = slog.New(slog.DiscardHandler)

// A program embeds Flags and passes its counters: the metrics, the health checks and the readiness work.
func TestSite(t *testing.T) {
	var c struct{ Flags }
	parser := envtest.Must(kong.New(&c))
	envtest.Must(parser.Parse([]string{"--http", "127.0.0.1:0", "--allowed-host", "metrics.example"}))
	require.Equal(t, web.Names{"metrics.example"}, c.Names)
	var games atomic.Int64
	counts := Metrics("blockyard_test_", func(s *Scrape) {
		s.Add("games_total", "Games played.", games.Load())
		s.Add("memory_bytes", "Memory in use.", 7)
	})
	site := envtest.Must(c.Start(quiet, counts,
		Info("blockyard_test_info", "The version.", map[string]string{"version": "1"})))
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, site.URL())

	check := func(path string, want int, text string) {
		status, body := opstest.Get(t, site.URL()+path)
		require.Equal(t, want, status)
		require.Contains(t, body, text)
	}
	webtest.Refuses(t, strings.TrimPrefix(site.URL(), "http://"), "/metrics", http.StatusOK)
	check("/", http.StatusOK, "/metrics")
	check("/healthz", http.StatusOK, "ok")
	check("/readyz", http.StatusServiceUnavailable, "starting")
	site.Ready()
	check("/readyz", http.StatusOK, "ok")
	site.Unready("draining")
	check("/readyz", http.StatusServiceUnavailable, "draining")
	check("/healthz", http.StatusOK, "ok")
	check("/other", http.StatusNotFound, "")
	reply := envtest.Must(http.Post(site.URL()+"/healthz", "text/plain", strings.NewReader("x")))
	require.NoError(t, reply.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, reply.StatusCode)

	games.Store(3)
	page := opstest.Scrape(t, site.URL())
	require.EqualValues(t, 3, page.Value(t, "blockyard_test_games_total"))
	require.EqualValues(t, 7, page.Value(t, "blockyard_test_memory_bytes"))
	require.EqualValues(t, 1, page.Value(t, "blockyard_test_info", "1"))
	require.NoError(t, site.Close())
	require.Error(t, envtest.Failed(http.Get(site.URL()+"/healthz")), "closed")
}

// All metrics come from one snapshot.
func TestMetrics(t *testing.T) {
	n := 0.0
	set := Metrics("blockyard_test_", func(s *Scrape) {
		n++
		s.Add("steps_total", "Steps.", n)
		s.Add("sessions", "Sessions.", n)
		s.Add("errors_total", "Errors.", n, "code", "400")
		s.Add("errors_total", "Errors.", 2*n, "code", "501")
		s.Add("play_seconds_total", "Time.", time.Duration(n)*time.Minute)
		s.Add("games", "Games.", uint8(n))
	})
	durations, count := Durations("blockyard_test_duration_seconds", "Durations.")
	for _, took := range []time.Duration{0, 1 << 12, 1<<12 + 1, time.Second, 1 << 34, 1<<34 + 1} {
		count(took)
	}
	site := envtest.Closing(t, envtest.Must((&Flags{HTTP: "127.0.0.1:0"}).Start(quiet, set, durations)))
	for scrape := 1.0; scrape < 3; scrape++ {
		page := opstest.Scrape(t, site.URL())
		require.Equal(t, []string{"blockyard_test_step", "blockyard_test_steps_total_count"}, page.Missing([]byte("rate("+
			"blockyard_test_steps_total{}) blockyard_test_duration_seconds_bucket blockyard_test_step blockyard_test_step "+
			"blockyard_other blockyard_test_steps_total_count"), "blockyard_test_"))
		for series, each := range map[string]float64{
			"steps_total": 1, "sessions": 1, "errors_total 400": 1, "errors_total 501": 2, "play_seconds_total": 60, "games": 1,
		} {
			words := strings.Fields("blockyard_test_" + series)
			require.Equal(t, each*scrape, page.Value(t, words[0], words[1:]...), series)
		}
		h := page["blockyard_test_duration_seconds"].Metric[0].Histogram
		require.EqualValues(t, 6, h.GetSampleCount())
		require.InDelta(t, 35.36, h.GetSampleSum(), 0.01)
		require.Len(t, h.Bucket, 24, "with that of all")
		for k, n := range map[int]int{0: 2, 1: 3, 17: 3, 18: 4, 21: 4, 22: 5} {
			require.EqualValues(t, n, h.Bucket[k].GetCumulativeCount(), k)
			require.Equal(t, time.Duration(1<<(12+k)).Seconds(), h.Bucket[k].GetUpperBound())
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { count(time.Second) }), "a step allocates nothing")
}

// Without --http nothing is opened, and a program need not care.
func TestNoSite(t *testing.T) {
	site := envtest.Must(new(Flags).Start(quiet))
	require.Nil(t, site)
	site.Ready()
	site.Unready("draining")
	require.Empty(t, site.URL())
	require.NoError(t, site.Close())
}

// An address is only public if its host says so, and the log then warns.
func TestPublicOnlyWhenSaid(t *testing.T) {
	for _, bad := range []string{":9090", "9090", "127.0.0.1", "127.0.0.1:no-such-port"} {
		require.ErrorContains(t, envtest.Failed((&Flags{HTTP: bad}).Start(quiet)), "--http "+bad)
	}
	for address, warns := range map[string]bool{"127.0.0.1:0": false, "localhost:0": false, "0.0.0.0:0": true} {
		var out bytes.Buffer
		f := Flags{HTTP: address}
		require.NoError(t, envtest.Must(f.Start(f.Logger(&out))).Close())
		require.Equal(t, warns, strings.Contains(out.String(), "level=WARN"), "%s: %s", address, &out)
	}
}

func TestNameIsTakenTwice(t *testing.T) {
	files := func() Collector { return Info("blockyard_test_files", "Files.", nil) }
	require.ErrorContains(t, envtest.Failed((&Flags{HTTP: "127.0.0.1:0"}).Start(quiet, files(), files())), "duplicate")
}

func TestLogger(t *testing.T) {
	var c struct{ Flags }
	parser := envtest.Must(kong.New(&c))
	log := func(args ...string) string {
		envtest.Must(parser.Parse(args))
		var out bytes.Buffer
		l := c.Logger(&out)
		l.Debug("small")
		l.Warn("large", "games", 3)
		return out.String()
	}
	require.Regexp(t, `^time=\S+ level=WARN msg=large games=3\n$`, log())
	require.Contains(t, log("--log-level", "debug"), "msg=small")
	require.Empty(t, log("--log-level", "error"))
	require.Regexp(t, `^\{"time":"\S+","level":"WARN","msg":"large","games":3\}\n$`, log("--log-format", "json"))
	for _, args := range [][]string{{"--log-format", "xml"}, {"--log-level", "loud"}} {
		require.ErrorContains(t, envtest.Failed(parser.Parse(args)), "must be one of", args)
	}
}

// The checks of opstest find what they are for.
func TestProblems(t *testing.T) {
	page := opstest.Parse(t, `
# TYPE blockyard_a_steps_total counter
blockyard_a_steps_total 1
# HELP blockyard_b_total Without a unit.
# TYPE blockyard_b_total counter
blockyard_b_total 1
# HELP blockyard_c_steps A counter.
# TYPE blockyard_c_steps counter
blockyard_c_steps 1
# HELP blockyard_d_steps_total As it should be.
# TYPE blockyard_d_steps_total counter
blockyard_d_steps_total 1
# HELP other_steps_total Steps.
# TYPE other_steps_total counter
other_steps_total 1
`)
	require.Regexp(t, `^blockyard_a_steps_total: want a help text.*\nblockyard_b_total: want a unit at the end.*\n`+
		`blockyard_c_steps: want _total.*\nother_steps_total: want a name that begins with blockyard_$`,
		strings.Join(page.Problems(), "\n"))
}
