package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/agents/match"
	"blockyard/env/envtest"
)

// honest are two entrants that play by the rules, whose names come before all others.
var honest = map[string]string{"a": "drop", "b": "left,drop"}

// attacks are what hostile entrants do when they play; those that only run, and play on, and one that is too greedy.
var attacks = []string{"cwdlink", "race", "thief", "suicide", "scout", "deep"}

// hostileEntrants writes hostile entrants into a folder of submissions: those that attack when they play, one that does so
// when it is read, and one when it is built.
func hostileEntrants(t *testing.T, subs, outside, nap string) {
	source := read("testdata/hostile.c")
	for _, attack := range attacks {
		text := fmt.Sprintf("#define ATTACK %q\n#define OUTSIDE %q\n#define NAP %q\n%s", attack, outside, nap, source)
		writeFiles(t, subs, map[string]string{"hostile-" + attack + ".c": text})
	}
	writeFiles(t, subs, map[string]string{
		"hostile-unpacker.7z":    compiletest.Seven([]byte{1, 5, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0}), // 2^62 files
		"hostile-build/bot.toml": "build = \"sh attack\"\nrun = \"./bot\"\n",
		"hostile-build/attack": fmt.Sprintf("cat %s/secret; echo x > %[1]s/WRITTEN; setsid sleep %s &\n"+
			"echo '{\"Answer\":{\"Argv\":[\"../../x\"],\"Dir\":\"../..\"}}' > /proc/$PPID/fd/1\nkill -9 $PPID", outside, nap),
	})
}

// TestHostileTournament: a tournament with hostile entrants and two honest ones ends by itself. The games of the honest
// among themselves are those of a tournament without the hostile, byte for byte but for times; the table says of every
// hostile one how it fared; nothing was written outside, and nothing is left. Package contest/cage has more attacks.
func TestHostileTournament(t *testing.T) {
	dir := t.TempDir()
	subs, alone := filepath.Join(dir, "subs"), filepath.Join(dir, "alone")
	writeFiles(t, dir, map[string]string{"secret": "a secret"})
	for name, move := range honest {
		text := strings.Replace(entries["dropper.c"], `"drop"`, `"`+move+`"`, 1)
		writeFiles(t, dir, map[string]string{"subs/" + name + ".c": text, "alone/" + name + ".c": text})
	}
	nap := fmt.Sprintf("606.%d", time.Now().UnixNano())
	hostileEntrants(t, subs, dir, nap)
	before := listing(t, dir)

	flags := []string{"--games", "1", "--finals", "0", "--workers", "2", "--memory", "256", "--timebank", "60s", "--time-per-move", "60s"}
	want := playTournament(t, append(flags, "--dir", alone, "--out", filepath.Join(dir, "out-alone"))...)
	got := playTournament(t, append(flags, "--dir", subs, "--out", filepath.Join(dir, "out"))...)
	require.True(t, got.Over)
	require.Equal(t, honestGames(t, filepath.Join(dir, "out-alone")), honestGames(t, filepath.Join(dir, "out")))
	require.Len(t, want.Players, len(honest))

	fared := map[string]string{}
	for _, p := range got.Players {
		fared[p.Name] = "plays"
		require.True(t, honest[p.Name] == "" || len(p.Faults) == 0, p.Name)
	}
	for _, e := range got.Refused {
		require.NotEmpty(t, e.Refused, e.Name)
		fared[e.Name] = e.Refused
	}
	require.Len(t, fared, len(honest)+len(attacks)+2)
	for _, name := range []string{"a", "b", "hostile-cwdlink", "hostile-suicide", "hostile-thief", "hostile-race", "hostile-scout"} {
		require.Equal(t, "plays", fared[name], "what it does to itself is gone when it starts again")
	}
	for _, name := range []string{"out", "out-alone"} {
		requireNothingReached(t, filepath.Join(dir, name))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	if len(cage.Missing()) == 0 {
		require.Equal(t, before, listing(t, dir))
	}
	for _, file := range envtest.Must(filepath.Glob("/proc/[0-9]*/cmdline")) {
		text, _ := os.ReadFile(file)
		require.NotContains(t, string(text), nap, file)
	}
}

// honestGames returns the games of the honest among themselves, as the journal has them, without times.
func honestGames(t *testing.T, out string) (lines []string) {
	for line := range strings.Lines(read(filepath.Join(out, "journal.jsonl"))) {
		p := decoded[match.Played](t, line)
		if p.Seats[0] >= len(honest) || p.Seats[1] >= len(honest) {
			continue
		}
		p.UsedMS, p.MostMS, p.Times = nil, nil, nil
		lines = append(lines, string(envtest.Must(json.Marshal(p))))
	}
	require.Len(t, lines, len(honest)*(len(honest)-1)/2)
	return lines
}

// requireNothingReached reads all that bots have said in a tournament.
func requireNothingReached(t *testing.T, out string) {
	require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.Type().IsRegular() && !strings.Contains(path, "/build") {
			text := read(path)
			require.NotContains(t, text, "REACHED", path)
			require.NotContains(t, text, "a secret", path)
		}
		return nil
	}))
}

// listing lists all files below a folder with their modes, sizes and times.
func listing(t *testing.T, dir string) (lines []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info := envtest.Must(d.Info())
		when := info.ModTime()
		if path == dir { // folders of tournaments come and go there
			when = time.Time{}
		}
		lines = append(lines, fmt.Sprint(path, info.Mode(), info.Size(), when))
		return nil
	}))
	return lines
}

// TestCageInput: a command in a cage reads its input by a pipe, and cannot write to the file or terminal that it is.
func TestCageInput(t *testing.T) {
	path, out := envtest.File(t, "input", "text\n"), new(strings.Builder)
	require.NoError(t, os.Chmod(path, 0o666))
	con := &console{In: envtest.Must(os.Open(path)), Out: out, Err: io.Discard}
	require.Equal(t, 3, run(t.Context(), []string{"cage", "--", "sh", "-c", "cat; echo x >/proc/self/fd/0 || exit 2; exit 3"}, con))
	require.Equal(t, "text\n", out.String())
	require.Equal(t, "text\n", read(path))
}
