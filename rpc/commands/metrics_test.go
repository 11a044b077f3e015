package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"blockyard/datasets/program/web/webtest"
	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/ops/opstest"
	"blockyard/rpc/server"
	"blockyard/rpc/wire/client"
)

// A client steps games; Prometheus' parser reads what it did. The values are those of stats.
func TestMetrics(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file, []byte("ann secret\nbob other\n"), 0o600))
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--http", "127.0.0.1:0", "--token-file", file)
	status, _ := opstest.Get(t, p.http+"/readyz")
	require.Equal(t, http.StatusOK, status)
	webtest.Refuses(t, strings.TrimPrefix(p.http, "http://"), "/metrics", http.StatusOK)
	before := opstest.Scrape(t, p.http)
	require.Zero(t, before.Value(t, "blockyard_server_steps_total"))
	require.Zero(t, before.Value(t, "blockyard_server_errors_total", "301", "bad_params"))

	exits(t, 0, "ping "+p.http)
	exits(t, 1, "ping "+p.http+"/other", "ping http://127.0.0.1:1")

	c, err := client.Dial(t.Context(), p.ready[0], "secret", nil)
	require.NoError(t, err)
	defer c.Close()
	g, err := c.Open("BlockBattle-v0", map[string]any{"num_envs": 8, "opponents": map[int]string{1: "random"}})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	for range 5 {
		require.NoError(t, g.Step(bytes.Repeat([]byte{0xff}, 2*g.Rows)))
	}
	require.Error(t, g.Step(nil), "no actions")
	require.NoError(t, g.Call("rollout", nil, 2, map[string]any{"keep": "last"}))
	stats := statsOf(t, c)
	page := opstest.Scrape(t, p.http)
	value := func(name string, labels ...string) float64 {
		return page.Value(t, "blockyard_server_"+name, labels...)
	}
	require.EqualValues(t, 7, value("steps_total"))
	require.EqualValues(t, stats.Steps, value("steps_total"))
	require.EqualValues(t, 7*8, value("seat_steps_total"))
	require.EqualValues(t, stats.SeatSteps, value("seat_steps_total"))
	require.EqualValues(t, stats.Requests, value("requests_total"))
	require.EqualValues(t, stats.Memory, value("memory_bytes", "games"))
	require.EqualValues(t, 7*8, value("opponent_decisions_total"), "both seats act in every step")
	require.EqualValues(t, 1, value("errors_total", "301", "bad_params"))
	require.Zero(t, value("errors_total", "900", "internal"))
	require.EqualValues(t, 1, value("sessions"))
	require.EqualValues(t, limits.DefaultLimits().MaxSessions, value("limit_sessions"))
	require.EqualValues(t, 8, value("environments"))
	require.EqualValues(t, 8, value("token_environments", "ann"))
	require.EqualValues(t, 1, value("token_sessions", "ann"))
	require.Zero(t, value("token_sessions", "bob"))
	require.EqualValues(t, stats.Memory, value("token_memory_bytes", "ann"))
	require.Greater(t, value("sent_bytes_total"), 5*float64(len(g.Slab)), "a slab per step")
	require.Greater(t, value("received_bytes_total"), float64(5*2*g.Rows), "actions per step")
	require.EqualValues(t, 1, value("info", fmt.Sprintf("%d.%d", server.Protocol[0], server.Protocol[1]), version))
	h := page["blockyard_server_step_duration_seconds"].Metric[0].Histogram
	require.EqualValues(t, 5, h.GetSampleCount(), "not those of rollouts")
	require.Positive(t, h.GetSampleSum())
	require.NotContains(t, page["blockyard_server_token_sessions"].String(), "secret")

	// The dashboard and the alerts use metrics that the server has.
	dashboard := deployed(t, "../deploy/grafana/blockyard.json")
	require.True(t, json.Valid(dashboard))
	for _, text := range [][]byte{dashboard, deployed(t, "../deploy/prometheus/alerts.yml")} {
		require.Contains(t, string(text), "blockyard_server_")
		require.Empty(t, page.Missing(text, "blockyard_server_"))
		require.Empty(t, page.Missing(text, "process_"))
	}
}

// After SIGTERM /readyz fails first. Clients that are connected go on, new ones are refused, and the server ends
// once the last has left.
func TestDrain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--http", "127.0.0.1:0", "--drain", "10m")
	c := dial(t, p.ready[0])
	g, err := c.Open("BlockBattle-v0", nil)
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		status, body := opstest.Get(t, p.http+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "draining")
	}, time.Minute, 5*time.Millisecond)
	status, _ := opstest.Get(t, p.http+"/healthz")
	require.Equal(t, http.StatusOK, status)
	require.Eventually(t, func() bool {
		other, err := client.Dial(t.Context(), p.ready[0], "", nil)
		if err == nil {
			_ = other.Close()
		}
		return err != nil
	}, time.Minute, 5*time.Millisecond)
	for range 3 {
		require.NoError(t, g.Step(bytes.Repeat([]byte{0xff}, 2*g.Rows)))
	}
	require.NoError(t, c.Close())
	p.ends(t)
}

// The time of --drain is a bound.
func TestDrainEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--drain", "200ms")
	require.NoError(t, dial(t, p.ready[0]).Call("ping", nil))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.ends(t)
}
