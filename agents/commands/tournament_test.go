package commands

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
)

// entries are submissions for Block Battle: two that play, and five that do not take part.
var entries = map[string]string{
	"dropper.py": "import sys\nfor line in sys.stdin:\n    if line.startswith('action'):\n        print('drop', flush=True)\n",
	"dropper.c": "#include <stdio.h>\n#include <string.h>\nint main(void) { char l[9999]; while (fgets(l, sizeof l, stdin))\n" +
		"if (!strncmp(l, \"action\", 6)) { puts(\"drop\"); fflush(stdout); } return 0; }\n",
	"silent.py":   "import sys\nfor line in sys.stdin:\n    pass\n",
	"crash.py":    "import sys\ninput()\nsys.exit('boom')\n",
	"nonsense.py": "import sys\nfor line in sys.stdin:\n    if line.startswith('action'):\n        print('banana', flush=True)\n",
	"broken.cpp":  "int main( { return 0; }\n",
	"notes.txt":   "this is no bot\n",
}

// playTournament runs the program and returns its report.
func playTournament(t *testing.T, args ...string) *tournament.Report {
	t.Helper()
	return playTournamentOf(t, "blockbattle", args...)
}

func playTournamentOf(t *testing.T, game string, args ...string) *tournament.Report {
	t.Helper()
	r := reported(t, append([]string{"tournament", game, "--json"}, args...)...)
	return &r
}

// reported runs the program, in a process of its own, and returns its report.
func reported(t *testing.T, args ...string) tournament.Report {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(built(t), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	return decoded[tournament.Report](t, out.String())
}

// TestTournament plays agents of ours against submissions, of which some are refused or have odd habits, and reads what
// it leaves behind.
func TestTournament(t *testing.T) {
	subs, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	writeFiles(t, subs, entries)
	writeFiles(t, subs, oddEntries())
	writeFiles(t, subs, map[string]string{"README.md": "", "Thumbs.db": "", ".DS_Store": ""}) // no entrants
	args := []string{"hand:ply=1", "--dir", subs, "--out", out, "--finals", "2", "--workers", "4", "--timebank", "8s"}
	r := playTournament(t, args...)
	require.True(t, r.Over)
	require.Equal(t, "hand:ply=1", r.Players[0].Name)
	playing := map[string]bool{}
	for _, s := range r.Players {
		playing[s.Name] = true
	}
	for _, name := range []string{"dropper", "dropper (2)", "hand:ply=1", "two lines"} {
		require.True(t, playing[name], name)
	}
	refused := map[string]string{}
	for _, e := range r.Refused {
		refused[e.Name] = e.Refused
	}
	require.Equal(t, len(entries)+len(oddEntries())+1, len(playing)+len(refused))
	for name, why := range map[string]string{
		"silent": "never answers: too many time-outs: no answer: not a byte has arrived", "broken": "does not compile: ",
		"crash":    "never answers: ended early: the program has ended: exit status 1",
		"nonsense": "answers nonsense: 10 of 10 answers cannot be read, such as \"banana\": unknown token",
		"notes":    "notes.txt is neither a source file nor an archive",
	} {
		require.Contains(t, refused[name], why)
	}
	namesHabits(t, r, out)
	made, err := program.ReadRun(filepath.Join(out, program.RunFile))
	require.NoError(t, err)
	require.Equal(t, "1", made.Seed)
	require.Contains(t, made.Command, "--timebank")
	require.NotNil(t, made.Seconds)
	page := read(t, filepath.Join(out, "index.html"))
	for _, want := range []string{"hand:ply=1", "replays/0001.html", "logs/0001.log", "boom", "does not compile"} {
		require.Contains(t, page, want)
	}
	logs := ""
	for k := range r.Games {
		logs += read(t, filepath.Join(out, tournament.LogFile(k)))
		checked(t, filepath.Join(out, tournament.RecordFile(k)))
	}
	require.Contains(t, logs, " * "+habits["two lines"][1])
	require.Equal(t, r, playTournament(t, args...), "nothing is played again")
	fails(t, 1, "is of other entrants", "tournament blockbattle first hand:ply=1 --out "+out)
}

// TestTournamentGoesOnAfterAKill kills a tournament in the middle, twice, with a half-written line in its journal, and
// gets the table of one that was not disturbed.
func TestTournamentGoesOnAfterAKill(t *testing.T) {
	dir := t.TempDir()
	args := []string{"hand:ply=1", "first", "random", "hand:ply=1,width=4", "--games", "2", "--finals", "2", "--format", "swiss"}
	want := playTournament(t, append(args, "--out", filepath.Join(dir, "whole"))...)
	out := filepath.Join(dir, "killed")
	for _, games := range []int{2, 6} {
		killTournament(t, games, want.Games, out, append([]string{"blockbattle"}, args...)...)
		tear(t, out)
	}
	requireSameTable(t, want, playTournament(t, append(args, "--out", out)...))
}

// tear leaves a half-written line in the journal of a folder.
func tear(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"number":`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// killTournament starts a tournament and kills it when its journal has so many games, and not the whole.
func killTournament(t *testing.T, games, whole int, out string, args ...string) {
	t.Helper()
	killAfter(t, games, whole, out, append([]string{"tournament", "--json", "--out", out}, args...)...)
}

// killAfter starts the program and kills it when the journal in a folder has so many games. If the machine holds up this
// test until the program has played the whole, it begins again with the folder as it was.
func killAfter(t *testing.T, games, whole int, out string, args ...string) {
	t.Helper()
	before, program := t.TempDir(), built(t)
	require.NoError(t, os.MkdirAll(out, 0o755))
	require.NoError(t, os.CopyFS(before, os.DirFS(out)))
	played := func() int {
		text, _ := os.ReadFile(filepath.Join(out, "journal.jsonl"))
		return bytes.Count(text, []byte("\n"))
	}
	for {
		cmd := exec.Command(program, args...)
		require.NoError(t, cmd.Start())
		for begun := time.Now(); played() < games; time.Sleep(time.Millisecond) {
			require.Less(t, time.Since(begun), 5*time.Minute)
		}
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() != nil && played() < whole {
			return
		}
		require.NoError(t, os.RemoveAll(out))
		require.NoError(t, os.CopyFS(out, os.DirFS(before)))
	}
}

// requireSameTable compares two tournaments but for the times of their programs, which nobody takes apart in Dropblox.
func requireSameTable(t *testing.T, want, got *tournament.Report) {
	t.Helper()
	for _, r := range []*tournament.Report{want, got} {
		r.Busy, r.Again = 0, 0
		for k := range r.Players {
			p := r.Players[k].Program
			if r.Game != "dropblox" {
				require.Positive(t, p.Times.WallMS)
			}
			p.UsedMS, p.MostMS, p.Times = 0, 0, nil
		}
	}
	require.Equal(t, want, got)
}

func TestTournamentUsage(t *testing.T) {
	misused(t, "tournament ", map[string]string{
		"wintetris hand first":                     "wintetris has no contest between programs",
		"blockbattle hand":                         "1 entrants, want at least two",
		"blockbattle hand no-such-thing":           `unknown agent "no-such-thing"`,
		"blockbattle hand first --seats 3":         "a game of blockbattle has 2 to 2",
		"blocking hand first --format knockout":    "--format",
		"dropblox hand first":                      "agents bundle dropblox",
		"blocking hand first --budget 3s":          "--budget is no option of this contest, which has --",
		"blocking hand first --seconds 3":          "--seconds is no option of this contest, which has --",
		"dropblox hand first --turns=-1":           "--turns -1",
		"blockbattle hand first --games 0":         "--games 0: want at least 1",
		"blockbattle hand first --dir /no/such/xy": "--dir",
	})
}

// TestTournamentServesItsPage: the page is there while the tournament, or league, waits for Ctrl-C.
func TestTournamentServesItsPage(t *testing.T) {
	for line, agents := range map[string][]string{
		"tournament blockbattle --out": {"first", "random"}, "league blockbattle --games 2 --dir": nil,
	} {
		out := filepath.Join(t.TempDir(), "out")
		writeFiles(t, out, map[string]string{"league.toml": "agents = [\"random\", \"first\"]"})
		var bots []string
		for _, name := range agents {
			bots = append(bots, built(t)+" bot blockbattle --agent "+name)
		}
		r := begin(t, nil, line+" "+out+" --quiet --listen 127.0.0.1:0", bots...)
		address := strings.TrimSpace(r.errs.await(t, "http://.*\n"))
		eventually(t, func() bool {
			_, page := opstest.Get(t, address)
			return strings.Contains(page, "finished")
		})
		webtest.Refuses(t, strings.Trim(address, "htp:/"), "/", http.StatusOK)
		require.Zero(t, r.stop(t))
	}
}
