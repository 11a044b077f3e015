package listen_test

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/rpc/server/listen"
)

// Many servers start at the same moment where a killed one left its socket: one of them listens, and its socket stays.
func TestOneServerTakesAStaleSocket(t *testing.T) {
	for try := range 30 {
		path := filepath.Join(t.TempDir(), "s")
		stale := envtest.Must(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))
		stale.SetUnlinkOnClose(false)
		require.NoError(t, stale.Close())
		var all sync.WaitGroup
		begin := make(chan struct{})
		listeners, refused := make([]net.Listener, 8), make([]error, 8)
		for k := range listeners {
			all.Go(func() {
				<-begin
				listeners[k], refused[k] = listen.Listen("unix:"+path, nil, listen.Credentials{})
			})
		}
		close(begin)
		all.Wait()
		alive := 0
		for k, l := range listeners {
			if refused[k] != nil {
				require.ErrorContains(t, refused[k], "another server listens there", "try %d", try)
				continue
			}
			alive++
			conn := envtest.Must(net.Dial("unix", path))
			require.NoError(t, conn.Close())
			require.NoError(t, l.Close())
		}
		require.Equal(t, 1, alive, "try %d", try)
		left := envtest.Must(os.ReadDir(filepath.Dir(path)))
		require.Empty(t, left)
	}
}
