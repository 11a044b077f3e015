package commands

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/agents/match"
)

// honest are four entrants that play by the rules, whose names come before all others.
var honest = map[string]string{"a": "drop", "b": "left,drop", "c": "right,right,drop", "d": "turnright,left,left,drop"}

// hostileEntrants writes sixteen hostile entrants into a folder of submissions: those that attack when they play, and
// those that attack when they are read or built.
func hostileEntrants(t *testing.T, subs, outside, nap string) (names []string) {
	t.Helper()
	source := read(t, "testdata/hostile.c")
	write := func(name, text string) {
		names = append(names, "hostile-"+strings.TrimSuffix(name, filepath.Ext(name)))
		writeFiles(t, subs, map[string]string{"hostile-" + name: text})
	}
	for _, attack := range []string{"cwdlink", "race", "scratch", "thief", "suicide", "spy", "tree", "daemon", "unlinked",
		"deep", "shared", "sockets"} {
		write(attack+".c", fmt.Sprintf("#define ATTACK %q\n#define OUTSIDE %q\n#define NAP %q\n%s", attack, outside, nap, source))
	}
	write("unpacker.7z", compiletest.Seven([]byte{1, 5, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0})) // 2^62 files
	write("toml.zip", compiletest.Zip(t, "bot.toml", "run = "+strings.Repeat("[", 28_000_000), "main.py", ""))
	var scripts []string
	for k := range 990 {
		scripts = append(scripts, fmt.Sprintf("m%d.pl", k), strings.Repeat(fmt.Sprintf("use m%d, x%d\n", k+1, k), 200))
	}
	write("scan.zip", compiletest.Zip(t, scripts...))
	writeFiles(t, subs, map[string]string{
		"hostile-build/bot.toml": "build = \"sh attack\"\nrun = \"./bot\"\n",
		"hostile-build/attack": fmt.Sprintf("cat %s/secret; echo x > %[1]s/WRITTEN; setsid sleep %s &\n"+
			"echo '{\"Answer\":{\"Argv\":[\"../../x\"],\"Dir\":\"../..\"}}' > /proc/$PPID/fd/1\nkill -9 $PPID", outside, nap),
	})
	return append(names, "hostile-build")
}

// TestHostileTournament: a tournament with sixteen hostile entrants and four honest ones ends by itself. The games of
// the honest among themselves are those of a tournament without the hostile, byte for byte but for times; the table says
// of every hostile one how it fared; nothing was written outside, and nothing is left.
func TestHostileTournament(t *testing.T) {
	dir := t.TempDir()
	subs, alone := filepath.Join(dir, "subs"), filepath.Join(dir, "alone")
	writeFiles(t, dir, map[string]string{"secret": "a secret"})
	for name, move := range honest {
		text := strings.Replace(entries["dropper.c"], `"drop"`, `"`+move+`"`, 1)
		writeFiles(t, dir, map[string]string{"subs/" + name + ".c": text, "alone/" + name + ".c": text})
	}
	nap := fmt.Sprintf("606.%d", time.Now().UnixNano())
	hostile := hostileEntrants(t, subs, dir, nap)
	require.Len(t, hostile, 16)
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
		if honest[p.Name] != "" {
			require.Empty(t, p.Faults, p.Name)
		}
	}
	for _, e := range got.Refused {
		require.NotEmpty(t, e.Refused, e.Name)
		require.Empty(t, honest[e.Name], e.Refused)
		fared[e.Name] = e.Refused
	}
	for _, name := range hostile {
		require.NotEmpty(t, fared[name], name)
		t.Logf("%s: %s", name, fared[name])
	}
	for _, name := range []string{"hostile-cwdlink", "hostile-suicide", "hostile-thief", "hostile-race"} {
		require.Equal(t, "plays", fared[name], "what it does to itself is gone when it starts again")
	}
	for _, name := range []string{"out", "out-alone"} {
		requireNothingReached(t, filepath.Join(dir, name))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	if len(cage.Missing()) == 0 {
		require.Equal(t, before, listing(t, dir))
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range processes {
		text, _ := os.ReadFile(file)
		require.False(t, strings.Contains(string(text), nap), file)
	}
}

// honestGames returns the games of the honest among themselves, as the journal has them, without times.
func honestGames(t *testing.T, out string) (lines []string) {
	t.Helper()
	for line := range strings.Lines(read(t, filepath.Join(out, "journal.jsonl"))) {
		p := decoded[match.Played](t, line)
		if p.Seats[0] >= len(honest) || p.Seats[1] >= len(honest) {
			continue
		}
		p.UsedMS, p.MostMS, p.Times = nil, nil, nil
		text, err := json.Marshal(p)
		require.NoError(t, err)
		lines = append(lines, string(text))
	}
	require.Len(t, lines, len(honest)*(len(honest)-1)/2)
	return lines
}

// requireNothingReached reads all that bots have said in a tournament.
func requireNothingReached(t *testing.T, out string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.Type().IsRegular() && !strings.Contains(path, "/build") {
			text := read(t, path)
			require.NotContains(t, text, "REACHED", path)
			require.NotContains(t, text, "a secret", path)
		}
		return nil
	}))
}

// listing lists all files below a folder with their modes, sizes and times.
func listing(t *testing.T, dir string) (lines []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		when := info.ModTime().String()
		if path == dir { // folders of tournaments come and go there
			when = ""
		}
		lines = append(lines, path+" "+info.Mode().String()+" "+strconv.FormatInt(info.Size(), 10)+" "+when)
		return nil
	}))
	return lines
}
