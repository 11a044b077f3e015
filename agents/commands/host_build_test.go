package commands

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
)

// TestHostSubmissions: bots may be an archive and a source file, whose names may have blanks; what does not compile is
// said with the compiler's words.
func TestHostSubmissions(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "my dropper.py")
	require.NoError(t, os.WriteFile(source, []byte(entries["dropper.py"]), 0o644))
	archive := filepath.Join(dir, "bot.zip")
	writeFiles(t, dir, map[string]string{"bot.zip": compiletest.Zip(t, "bot/main.c", entries["dropper.c"])})
	status, out, errs := hostMatch(t, t.Context(), source, archive, "--games", "2", "--seed", "1")
	require.Zero(t, status, errs)
	require.Contains(t, out, "A: my dropper\nB: bot\n")
	require.NotContains(t, out, "time-outs 1")

	broken := filepath.Join(dir, "broken.cpp")
	require.NoError(t, os.WriteFile(broken, []byte(entries["broken.cpp"]), 0o644))
	status, _, errs = hostMatch(t, t.Context(), source, broken)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "broken.cpp\": does not compile: ")
	require.Contains(t, errs, "broken.cpp:1")
}
