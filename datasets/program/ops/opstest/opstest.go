// Package opstest checks the metrics of a program in tests.
package opstest

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

// units are the last words of names, before _total. Besides Prometheus' base units they are what is counted.
var units = []string{
	"seconds", "bytes", "ratio", "info", "timestamp_seconds",
	"sessions", "handles", "environments", "mappings", "files", "goroutines", "timers", // of rpc serve
	"steps", "seat_steps", "actions", "requests", "errors", "decisions",
	"iterations", "games", "choices", "samples", "evaluations", "gates", "loss", "per_second", "points", // of train
	"tasks", "results", "workers", // of train join
	"teams", "rounds", "turns", // of agents serve
}

// A Page is the metrics of a program by name.
type Page map[string]*dto.MetricFamily

// Get returns the status and the body that a GET request is answered with.
func Get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	r, err := http.Get(url)
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(b)
}

// Scrape reads url/metrics, and fails the test if a metric of ours has no help, no unit, or other problems.
func Scrape(t *testing.T, url string) Page {
	t.Helper()
	status, body := Get(t, url+"/metrics")
	require.Equal(t, http.StatusOK, status, body)
	page := Parse(t, body)
	require.Contains(t, page, "go_goroutines")
	require.Empty(t, page.Problems())
	problems, err := promlint.New(bytes.NewReader([]byte(body))).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
	return page
}

// Parse reads metrics in Prometheus' text format, or fails the test.
func Parse(t *testing.T, text string) Page {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	page, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	return page
}

// Problems returns a sentence for every metric of Blockyard that has no help text or no unit.
func (page Page) Problems() (all []string) {
	for name, m := range page {
		plain := strings.TrimSuffix(name, "_total")
		unit := func(u string) bool { return strings.HasSuffix(plain, "_"+u) }
		switch {
		case strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_"): // of the Prometheus client
		case !strings.HasPrefix(name, "blockyard_"):
			all = append(all, name+": want a name that begins with blockyard_")
		case !strings.HasSuffix(m.GetHelp(), "."):
			all = append(all, name+": want a help text, a sentence with a full stop")
		case !slices.ContainsFunc(units, unit):
			all = append(all, name+": want a unit at the end, such as "+strings.Join(units, ", "))
		case (m.GetType() == dto.MetricType_COUNTER) != (plain != name):
			all = append(all, name+": want _total at the end of counters, and of nothing else")
		}
	}
	slices.Sort(all)
	return all
}

// Missing returns the metrics that a text, such as a dashboard, names with this prefix and the page does not have.
func (page Page) Missing(text []byte, prefix string) (all []string) {
	for _, name := range regexp.MustCompile(`\b`+prefix+`\w+`).FindAllString(string(text), -1) {
		m := page[name]
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if histogram := page[strings.TrimSuffix(name, part)]; m == nil && histogram.GetType() == dto.MetricType_HISTOGRAM {
				m = histogram
			}
		}
		if m == nil && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Value returns the counter or gauge with these label values, sorted by label name, or fails the test.
func (page Page) Value(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	require.Contains(t, page, name)
	for _, m := range page[name].Metric {
		var have []string
		for _, l := range m.Label {
			have = append(have, l.GetValue())
		}
		if slices.Equal(have, labels) {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() // the one that it is not is 0
		}
	}
	require.Fail(t, "no such labels", "%s%q", name, labels)
	return 0
}
