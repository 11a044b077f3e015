package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
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
	var out, errs bytes.Buffer
	cmd := exec.Command(built(t), append([]string{"tournament", game, "--json"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	var r tournament.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r), out.String())
	return &r
}

// TestTournament plays agents of ours against submissions, of which some are refused, and reads what it leaves behind.
func TestTournament(t *testing.T) {
	subs, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, text := range entries {
		require.NoError(t, os.WriteFile(filepath.Join(subs, name), []byte(text), 0o644))
	}
	for _, name := range []string{"README.md", "Thumbs.db", ".DS_Store"} { // no entrants
		require.NoError(t, os.WriteFile(filepath.Join(subs, name), nil, 0o644))
	}
	r := playTournament(t, "hand:ply=1", "--dir", subs, "--out", out, "--finals", "2", "--workers", "2", "--timebank", "8s")
	require.True(t, r.Over)
	require.Equal(t, "hand:ply=1", r.Players[0].Name)
	require.Equal(t, "dropper dropper (2) hand:ply=1", strings.Join(sortedNames(r), " "))
	refused := map[string]string{}
	for _, e := range r.Refused {
		refused[e.Name] = e.Refused
	}
	require.Len(t, refused, 5)
	for name, why := range map[string]string{
		"silent": "never answers: too many time-outs: no answer: not a byte has arrived", "broken": "does not compile: ",
		"crash":    "never answers: ended early: the program has ended: exit status 1",
		"nonsense": "answers nonsense: 10 of 10 answers cannot be read, such as \"banana\": unknown token",
		"notes":    "notes.txt is neither a source file nor an archive",
	} {
		require.Contains(t, refused[name], why)
	}
	made, err := program.ReadRun(filepath.Join(out, program.RunFile))
	require.NoError(t, err)
	require.Equal(t, "1", made.Seed)
	require.Contains(t, made.Command, "--timebank")
	require.NotNil(t, made.Seconds)
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	require.NoError(t, err)
	for _, want := range []string{"hand:ply=1", "replays/0001.html", "logs/0001.log", "boom", "does not compile"} {
		require.Contains(t, string(page), want)
	}
	for k := range r.Games {
		require.FileExists(t, filepath.Join(out, tournament.LogFile(k)))
		checked(t, filepath.Join(out, tournament.RecordFile(k)))
	}
	again := playTournament(t, "hand:ply=1", "--dir", subs, "--out", out, "--finals", "2", "--workers", "2", "--timebank", "8s")
	require.Equal(t, r, again, "nothing is played again")
	fails(t, "tournament blockbattle first hand:ply=1 --out "+out, 1, "is of other entrants")
}

func sortedNames(r *tournament.Report) (names []string) {
	for _, s := range r.Players {
		names = append(names, s.Name)
	}
	if len(names) > 1 && names[0] > names[len(names)-1] {
		names = append(names[1:], names[0])
	}
	return names
}

// TestTournamentGoesOnAfterAKill kills a tournament in the middle, twice, with a half-written line in its journal, and
// gets the table of one that was not disturbed.
func TestTournamentGoesOnAfterAKill(t *testing.T) {
	dir := t.TempDir()
	args := []string{"hand:ply=1", "first", "random", "hand:ply=1,width=4", "--games", "2", "--finals", "2", "--format", "swiss"}
	want := playTournament(t, append(args, "--out", filepath.Join(dir, "whole"))...)
	out := filepath.Join(dir, "killed")
	journal := filepath.Join(out, "journal.jsonl")
	for _, games := range []int{2, 6} {
		killTournament(t, games, want.Games, out, append([]string{"blockbattle"}, args...)...)
		f, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(`{"number":`)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	got := playTournament(t, append(args, "--out", out)...)
	requireSameTable(t, want, got)
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
	misused(t, "", map[string]string{
		"tournament wintetris hand first":                     "wintetris has no contest between programs",
		"tournament blockbattle hand":                         "1 entrants, want at least two",
		"tournament blockbattle hand no-such-thing":           `unknown agent "no-such-thing"`,
		"tournament blockbattle hand first --seats 3":         "a game of blockbattle has 2 to 2",
		"tournament blocking hand first --format knockout":    "--format",
		"tournament dropblox hand first":                      "agents bundle dropblox",
		"tournament blocking hand first --budget 3s":          "--budget is no option of this contest, which has --",
		"tournament blocking hand first --seconds 3":          "--seconds is no option of this contest, which has --",
		"tournament dropblox hand first --turns=-1":           "--turns -1",
		"tournament blockbattle hand first --games 0":         "--games 0: want at least 1",
		"tournament blockbattle hand first --dir /no/such/xy": "--dir",
	})
}

// TestTournamentServesItsPage: the page is there while the tournament, or league, waits for Ctrl-C.
func TestTournamentServesItsPage(t *testing.T) {
	ours := built(t) + " bot blockbattle --agent"
	t.Run("tournament", func(t *testing.T) { servesItsPage(t, "--out", ours+" first", ours+" random") })
	t.Run("league", func(t *testing.T) { servesItsPage(t, "--dir", "--games", "2") })
}

func servesItsPage(t *testing.T, folder string, more ...string) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := filepath.Join(t.TempDir(), "out")
	r, w := io.Pipe()
	status := make(chan int, 1)
	writeFiles(t, out, map[string]string{"league.toml": "agents = [\"random\", \"first\"]"})
	go func() {
		_, command := path.Split(t.Name())
		args := append([]string{command, "blockbattle", folder, out, "--quiet", "--listen", "127.0.0.1:0"}, more...)
		status <- run(ctx, args, &console{In: strings.NewReader(""), Out: io.Discard, Err: w})
	}()
	address, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	go io.Copy(io.Discard, r)
	require.Eventually(t, func() bool {
		page, err := http.Get(strings.TrimSpace(address))
		if err != nil {
			return false
		}
		defer page.Body.Close()
		text, err := io.ReadAll(page.Body)
		return err == nil && strings.Contains(string(text), "finished")
	}, 10*time.Minute, 20*time.Millisecond)
	webtest.Refuses(t, strings.Trim(address, "htp:/\n"), "/", http.StatusOK)
	stop()
	require.Zero(t, <-status)
}
