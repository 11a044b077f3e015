package cage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFor: what a command may read and write of the folder in which its files are.
func TestFor(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", filepath.Join(home, "tmp"))
	large := "bots/large/bot.py"
	fill(t, home, "", 0o644, "bots/a/bot.py", "bots/a/help.py", "both/a.py", "both/b.py", "both/help.py", "out/journal.jsonl", "bot", large)
	at := func(name string) string { return filepath.Join(home, name) }
	alone := For([]string{"python3", "bots/a/bot.py", "--fast"}, home, at("out"))
	require.Equal(t, at("bots/a"), alone.Files)
	require.Equal(t, at("bots/a"), alone.Also)
	require.Equal(t, []string{at("bots/a")}, alone.begins())

	shell := For([]string{"/bin/sh", "-c", "cd " + at("bots/a") + " && python3 'bot.py'"}, home, at("out"))
	require.Equal(t, at("bots/a"), shell.Files)

	beside := For([]string{"python3", "both/a.py"}, home, at("out"), at("both/b.py"))
	require.Equal(t, []string{at("both/a.py"), at("both/help.py")}, beside.begins(), "not a rival's file")
	require.Empty(t, beside.Read)

	inHome := For([]string{"./bot"}, home, at("out"))
	require.Empty(t, inHome.Files)
	require.Equal(t, []string{at("bot")}, inHome.Read, "not the home folder around it")

	require.Equal(t, []string{at("bot")}, Named([]string{"/usr/bin/env", "sh", "./bot"}, home), "the system's are nobody's own")

	inside := For([]string{"out/journal.jsonl"}, home, at("out"))
	require.Empty(t, inside.Files)
	require.Empty(t, inside.Read)

	require.NoError(t, os.Truncate(at(large), mostCopied+1))
	uncopied := For([]string{"python3", large}, home)
	require.Empty(t, uncopied.Files, "it would be copied for every start")
	require.Equal(t, []string{at("bots/large")}, uncopied.Read)
	require.Equal(t, home, uncopied.Dir)
}

// fill makes files of a text in a folder.
func fill(t *testing.T, folder, text string, mode os.FileMode, names ...string) {
	for _, name := range names {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
}

// TestWithout: what is hidden is not among what is shown, and neither is what is below.
func TestWithout(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, "", 0o644, "a/x", "a/y", "b/x/z", "c")
	at := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, filepath.Join(dir, name))
		}
		return list
	}
	require.Equal(t, at("a/y", "b", "c"), without(dir, at("a/x", "none")))
	require.Equal(t, at("a", "c"), without(dir, at("b", "b/x")))
	require.Equal(t, []string{dir}, without(dir, nil))
	require.Empty(t, without(dir, []string{dir}))
	require.Empty(t, without(dir, []string{filepath.Dir(dir)}))
}

// TestEnvironment: what a contained program needs to find its language is passed on, and no folder that it could only
// fail to write to.
func TestEnvironment(t *testing.T) {
	t.Setenv("PYTHONPATH", "/usr/lib/mine")
	t.Setenv("PYTHONPYCACHEPREFIX", "/var/cache/mine")
	t.Setenv("PYTHONSTARTUP", "/home/me/.pythonrc")
	list := environment("/tmp/x", []string{"A=1"})
	require.Contains(t, list, "PYTHONPATH=/usr/lib/mine")
	require.NotContains(t, list, "PYTHONPYCACHEPREFIX=/var/cache/mine")
	require.NotContains(t, list, "PYTHONSTARTUP=/home/me/.pythonrc")
	require.Equal(t, []string{"HOME=/tmp/x", "TMPDIR=/tmp/x", "A=1"}, list[len(list)-3:])
}
