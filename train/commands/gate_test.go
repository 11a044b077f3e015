//go:build unix

package commands

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// A gate by three worker processes, one of which is killed while it plays, has the result of the gate in one process.
func TestGateCluster(t *testing.T) {
	dir := t.TempDir()
	args := func(out string, more ...string) []string {
		return append([]string{"gate", "learned", "hand", "--ply=1", "--pairs=40", "--out", filepath.Join(dir, out)}, more...)
	}
	require.NoError(t, command(t, args("alone")...))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := l.Addr().String()
	require.NoError(t, l.Close())
	ended := make(chan error, 1)
	go func() { ended <- command(t, args("together", "--cluster", "--listen", at, "--cluster-dir", dir)...) }()
	key := filepath.Join(dir, "worker.nk")
	require.Eventually(t, func() bool { _, err := os.Stat(key); return err == nil }, time.Minute, 10*time.Millisecond)
	join := []string{"join", "nats://" + at, "--creds", key}
	killed := startWorker(t, "killed", at, join)
	var nc *nats.Conn // the broker writes its key before it listens
	require.Eventually(t, func() bool {
		nc, err = broker.Connect(broker.Link{URL: join[1], Creds: key}, slog.New(slog.DiscardHandler))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	defer nc.Close()
	require.Eventually(t, func() bool {
		all, _, _ := fleet.Ask(t.Context(), nc)
		return len(all) == 1 && len(all[0].Workers) == 1 && all[0].Workers[0].Tasks > 0
	}, time.Minute, 5*time.Millisecond)
	killed.kill()
	startWorker(t, "second", at, join)
	startWorker(t, "third", at, join)
	require.NoError(t, <-ended)
	want, err := os.ReadFile(filepath.Join(dir, "alone"))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "together"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
