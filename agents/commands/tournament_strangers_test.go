//go:build unix

package commands

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web/webtest"
)

// TestTournamentBesideStrangers: more connections to the page than the tournament may have open files end neither its
// games nor its page.
func TestTournamentBesideStrangers(t *testing.T) {
	const files, strangers = "360", 600
	program := own()
	ours := program + " bot blockbattle --agent"
	c := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -n "+files+` && exec "$0" "$@"`, program, "tournament", "blockbattle",
		ours+" first", ours+" random", "--out", filepath.Join(t.TempDir(), "out"), "--finals", "0", "--quiet", "--listen", "127.0.0.1:0")
	said := new(loud)
	c.Stdout, c.Stderr = io.Discard, said
	require.NoError(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait(); close(ended) }()
	t.Cleanup(func() { _ = c.Process.Kill(); <-ended })
	address := strings.TrimSpace(said.await(t, "http://.*\n"))
	for range strangers {
		s, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(address, "http://"), "/"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
	}
	finished(t, address)
	webtest.Refuses(t, strings.Trim(address, "htp:/"), "/", http.StatusOK)
	require.NoError(t, c.Process.Signal(os.Interrupt))
	require.NoError(t, <-ended)
	require.NotContains(t, said.String(), "too many open files")
}
