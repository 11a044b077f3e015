package commands

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire/client"
)

// searching opens games of Dropblox and begins a rollout with a policy whose next step alone would take many minutes.
func searching(t *testing.T, address string) *client.Client {
	t.Helper()
	c := dial(t, address)
	g, err := c.Open("Dropblox-v0", map[string]any{"num_envs": 1000})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	before := statsOf(t, c).Memory
	go func() {
		_ = g.Call("rollout", nil, 1000, map[string]any{"policy": "learned:width=10000", "keep": "last"})
	}()
	await(t, address, func(s stats) bool { return s.Memory != before }) // the server has loaded the policy
	return c
}

// TestASignalEndsASearch: a server in the middle of a long search ends with the first signal, after the drain time-out;
// when the client is gone, so are its search and its games.
func TestASignalEndsASearch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	p := serve(t, "--listen", "tcp:127.0.0.1:0")
	searching(t, p.ready[0])
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.ends(t)

	p = serve(t, "--listen", "tcp:127.0.0.1:0")
	require.NoError(t, searching(t, p.ready[0]).Close())
	await(t, p.ready[0], func(s stats) bool { return s.Envs == 0 }) // its games are closed
}

// TestTheSecondSignalEndsAtOnce: it does not wait for clients that may still go on.
func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--drain", "10m", "--drain-timeout", "10m")
	searching(t, p.ready[0])
	var exit *exec.ExitError
	for {
		_ = p.Process.Signal(syscall.SIGTERM) // the first one asks the server to stop, the next ends it
		select {
		case err := <-p.ended:
			require.ErrorAs(t, err, &exit)
			require.Equal(t, syscall.SIGTERM, exit.Sys().(syscall.WaitStatus).Signal())
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}
