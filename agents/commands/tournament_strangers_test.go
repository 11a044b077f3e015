//go:build unix

package commands

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTournamentBesideStrangers: more connections to the page than the tournament may have open files end neither its
// games nor its page.
func TestTournamentBesideStrangers(t *testing.T) {
	const files, strangers = "360", 600
	program := built(t)
	ours := program + " bot blockbattle --agent"
	c := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -n "+files+` && exec "$0" "$@"`, program, "tournament", "blockbattle",
		ours+" first", ours+" random", "--out", filepath.Join(t.TempDir(), "out"), "--quiet", "--listen", "127.0.0.1:0")
	said, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	ended := make(chan error, 1)
	t.Cleanup(func() { _ = c.Process.Kill(); <-ended })
	lines := bufio.NewReader(said)
	page, err := lines.ReadString('\n')
	require.NoError(t, err)
	page = strings.TrimSpace(page)
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(lines)
		rest <- string(text)
		ended <- c.Wait()
		close(ended)
	}()
	for range strangers {
		s, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(page, "http://"), "/"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
	}
	for finished := false; !finished; time.Sleep(20 * time.Millisecond) {
		reply, err := http.Get(page)
		require.NoError(t, err)
		text, err := io.ReadAll(reply.Body)
		require.NoError(t, err)
		require.NoError(t, reply.Body.Close())
		finished = strings.Contains(string(text), "finished")
	}
	require.NoError(t, c.Process.Signal(os.Interrupt))
	require.NotContains(t, <-rest, "too many open files")
	require.NoError(t, <-ended)
}
