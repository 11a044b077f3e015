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
	for _, name := range []string{"bots/a/bot.py", "bots/a/help.py", "both/a.py", "both/b.py", "both/help.py", "out/journal.jsonl", "bot"} {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	at := func(name string) string { return filepath.Join(home, name) }
	alone := For([]string{"python3", "bots/a/bot.py", "--fast"}, home, at("out"))
	require.Equal(t, at("bots/a"), alone.Own)
	require.True(t, alone.writable())

	shell := For([]string{"/bin/sh", "-c", "cd " + at("bots/a") + " && python3 'bot.py'"}, home, at("out"))
	require.Equal(t, at("bots/a"), shell.Own)

	beside := For([]string{"python3", "both/a.py"}, home, at("out"), at("both/b.py"))
	require.Empty(t, beside.Own, "a rival's file is in the folder")
	require.Equal(t, []string{at("both")}, beside.Read)
	require.Equal(t, []string{at("both/a.py"), at("both/help.py")}, without(at("both"), beside.Hidden))

	inHome := For([]string{"./bot"}, home, at("out"))
	require.Empty(t, inHome.Own)
	require.Equal(t, []string{at("bot")}, inHome.Read, "not the home folder around it")

	inside := For([]string{"out/journal.jsonl"}, home, at("out"))
	require.Empty(t, inside.Own)
	require.Empty(t, without(inside.Read[0], inside.Hidden))
}
