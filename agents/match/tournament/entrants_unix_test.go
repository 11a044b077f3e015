//go:build unix

package tournament

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"

	"github.com/stretchr/testify/require"
)

// In a folder of submissions, named pipes do not make anybody wait, links are not followed, and names do not reach a
// terminal as they are.
func TestHostileSubmissions(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	secret := envtest.File(t, "secret.py", "print('secret')")
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.py"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.py")))
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "folder")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "inside"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "inside", "pipe.py"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "inside", "link.py")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "x\x1b[2J\ny"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x\x1b[2J\ny", "\x1b[31m.txt"), nil, 0o600))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "large.py"), nil, 0o600))
	require.NoError(t, os.Truncate(filepath.Join(dir, "large.py"), 1<<40)) // of holes
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A_b.py"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a|b.py"), nil, 0o600))

	refused, into := map[string]string{}, map[string]bool{}
	for _, e := range Enter(envtest.Must(Submissions(blockbattle.Game, dir))) {
		require.NoError(t, e.Prepare(t.Context(), out, compile.Default, 0, nil))
		refused[e.Name], into[strings.ToLower(e.into)] = e.Refused, true
		require.NotRegexp(t, `[[:cntrl:]]`, e.Name+e.Refused)
	}
	const no = "neither a file nor a folder; links are not followed; see agents/SUBMISSIONS.md"
	for _, name := range []string{"pipe", "link", "folder"} {
		require.Equal(t, no, refused[name], name)
	}
	require.Contains(t, refused["inside"], "holds no source file")
	require.Contains(t, refused, "x [2J y")
	require.Contains(t, refused["large"], "1099511627776 bytes, want at most")
	require.Len(t, refused, 8)
	require.Len(t, into, 8)
	require.NoError(t, filepath.WalkDir(out, func(path string, _ os.DirEntry, err error) error {
		require.NotContains(t, path, "link.py")
		return err
	}))
	_, err := compile.Submission(t.Context(), filepath.Join(dir, "pipe.py"), filepath.Join(out, "pipe"), contest.Uploads{}, compile.Default)
	require.ErrorContains(t, err, "neither a file nor a folder")
}
