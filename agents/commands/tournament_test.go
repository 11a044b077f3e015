package commands

import (
	"bytes"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
)

// entries are submissions for Block Battle: two that play, and three that do not take part.
var entries = map[string]string{
	"dropper.py": "import sys\nfor line in sys.stdin:\n    if line.startswith('action'):\n        print('drop', flush=True)\n",
	"dropper.c": "#include <stdio.h>\n#include <string.h>\nint main(void) { char l[9999]; while (fgets(l, sizeof l, stdin))\n" +
		"if (!strncmp(l, \"action\", 6)) { puts(\"drop\"); fflush(stdout); } return 0; }\n",
	"silent.py":  "import sys\nfor line in sys.stdin:\n    pass\n",
	"crash.py":   "import sys\ninput()\nsys.exit('boom')\n",
	"broken.cpp": "int main( { return 0; }\n",
}

// playTournament plays a tournament of Block Battle, in a process of its own.
func playTournament(t *testing.T, args ...string) *tournament.Report {
	r := reported(t, append([]string{"tournament", "blockbattle", "--json"}, args...)...)
	return &r
}

// reported runs the program, in a process of its own, and returns its report.
func reported(t *testing.T, args ...string) tournament.Report {
	var out, errs bytes.Buffer
	cmd := exec.Command(own(), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	return decoded[tournament.Report](t, out.String())
}

// TestTournament plays an agent of ours against submissions, of which some are refused or have odd habits, and reads what
// it leaves behind.
func TestTournament(t *testing.T) {
	subs, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	wants := map[string]string{ // by the names of all entrants
		"hand:ply=1": "plays", "dropper": "plays", "dropper (2)": "plays", "broken": "does not compile: ",
		"notes":     "notes.txt is neither a source file nor an archive",
		"two lines": "plays: " + habits["two lines"][1],
		"no flush":  "never answers: too many time-outs: " + habits["no flush"][1],
		"exception": "fails after 2 answers: ended early: " + habits["exception"][1],
		"JSON":      "answers nonsense: 10 of 10 answers cannot be read, such as",
	}
	writeFiles(t, subs, map[string]string{
		"dropper.py": entries["dropper.py"], "dropper.zip": compiletest.Zip(t, "bot/main.c", entries["dropper.c"]),
		"broken.cpp": entries["broken.cpp"], "notes.txt": "this is no bot\n",
		"README.md": "", "Thumbs.db": "", ".DS_Store": "", // no entrants
	})
	for _, name := range []string{"two lines", "no flush", "exception", "JSON"} {
		writeFiles(t, subs, map[string]string{name + ".py": oddBot(name)})
	}
	args := []string{"hand:ply=1", "--dir", subs, "--out", out, "--games", "1", "--finals", "1", "--timebank", "8s"}
	r := playTournament(t, args...)
	require.True(t, r.Over)
	require.Equal(t, "hand:ply=1", r.Players[0].Name)
	said := map[string]string{}
	for _, s := range r.Players {
		said[s.Name] = strings.Join(append([]string{"plays"}, s.Program.Odd...), ": ")
	}
	for _, e := range r.Refused {
		said[e.Name] = e.Refused
	}
	require.Len(t, said, len(wants))
	table, page := r.String(), html.UnescapeString(read(filepath.Join(out, tournament.PageFile)))
	for name, want := range wants {
		require.Contains(t, said[name], want, name)
		what := strings.TrimPrefix(said[name], "plays: ")
		require.True(t, what == "plays" || strings.Contains(table, what) && strings.Contains(page, what), what)
	}
	require.Contains(t, said["no flush"], "--dialect port", "it may be for another dialect")
	made := envtest.Must(program.ReadRun(filepath.Join(out, program.RunFile)))
	require.Equal(t, "1", made.Seed)
	require.Contains(t, made.Command, "--timebank")
	require.NotNil(t, made.Seconds)
	envtest.Has(t, page, "hand:ply=1", "replays/0001.html", "logs/0001.log", "kaboom")
	logs := ""
	for k := range r.Games {
		logs += read(filepath.Join(out, tournament.LogFile(k)))
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
	args := []string{"hand:ply=1", "first", "random", "hand:ply=1,width=4", "--games", "1", "--finals", "1", "--format", "swiss"}
	want := playTournament(t, append(args, "--out", filepath.Join(dir, "whole"))...)
	out := filepath.Join(dir, "killed")
	for _, games := range []int{1, 5} {
		killAfter(t, games, want.Games, out, append([]string{"tournament", "blockbattle", "--json", "--out", out}, args...)...)
		tear(t, out)
	}
	requireSameTable(t, want, playTournament(t, append(args, "--out", out)...))
}

// tear leaves a half-written line in the journal of a folder.
func tear(t *testing.T, dir string) {
	f := envtest.Must(os.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0))
	envtest.Must(f.WriteString(`{"number":`))
	require.NoError(t, f.Close())
}

// lines counts the games in the journal of a folder.
func lines(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	return bytes.Count(text, []byte("\n"))
}

// killAfter starts the program and kills it when the journal in a folder has so many games. If the machine holds up this
// test until the program has played the whole, it begins again with the folder as it was.
func killAfter(t *testing.T, games, whole int, out string, args ...string) {
	before, program := t.TempDir(), own()
	require.NoError(t, os.MkdirAll(out, 0o755))
	require.NoError(t, os.CopyFS(before, os.DirFS(out)))
	for {
		cmd := exec.Command(program, args...)
		require.NoError(t, cmd.Start())
		for begun := time.Now(); lines(out) < games; time.Sleep(time.Millisecond) {
			require.Less(t, time.Since(begun), 5*time.Minute)
		}
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() != nil && lines(out) < whole {
			return
		}
		require.NoError(t, os.RemoveAll(out))
		require.NoError(t, os.CopyFS(out, os.DirFS(before)))
	}
}

// requireSameTable compares two tournaments but for the times of their programs.
func requireSameTable(t *testing.T, want, got *tournament.Report) {
	for _, r := range []*tournament.Report{want, got} {
		r.Busy, r.Again = 0, 0
		for k := range r.Players {
			p := r.Players[k].Program
			require.Positive(t, p.Times.WallMS)
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

// TestLeagueServesItsPage: the page is there while a league waits for Ctrl-C.
func TestLeagueServesItsPage(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"league.toml": "agents = [\"random\", \"first\"]"})
	r := begin(t, nil, "league blockbattle --games 2 --dir "+dir+" --quiet --listen 127.0.0.1:0")
	address := strings.TrimSpace(r.errs.await(t, "http://.*\n"))
	finished(t, address)
	webtest.Refuses(t, strings.Trim(address, "htp:/"), "/", http.StatusOK)
	require.Zero(t, r.stop(t))
}

// finished waits until the page of a tournament says that it is over.
func finished(t *testing.T, address string) {
	eventually(t, func() bool {
		_, page := opstest.Get(t, address)
		return strings.Contains(page, "finished")
	})
}

// TestTournamentsOfContests plays a short tournament in the other contests than Block Battle: a starter against an agent of
// ours or a command. An entrant that crashes does not take part.
func TestTournamentsOfContests(t *testing.T) {
	for line, other := range map[string]string{
		"tetrisduel --budget 1m": "first", "blocking --first-time 1m --time 1m": "first",
		"dropblox --seconds 60 --turns 3": "python3 " + starter("dropblox", "python") + " left",
	} {
		t.Run(line, func(t *testing.T) {
			subs, game := t.TempDir(), strings.Fields(line)[0]
			writeFiles(t, subs, map[string]string{"bot.py": read(starter(game, "python")), "crash.py": entries["crash.py"]})
			line += " --out " + filepath.Join(t.TempDir(), "out") + " --dir " + subs
			got := decoded[tournament.Report](t, succeeds(t, "tournament --json --games 1 --finals 0 "+line, other))
			require.True(t, got.Over)
			require.Len(t, got.Players, 2)
			for _, s := range got.Players {
				require.Zero(t, s.Program.Timeouts+s.Program.Ended, s.Name)
			}
			require.Len(t, got.Refused, 1)
			require.Equal(t, "crash", got.Refused[0].Name)
		})
	}
}

// The command leaves the report, its picture and a journal with which it goes on.
func TestLadder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ladder")
	line := "ladder blocking random first hand:ply=1 --json --out " + dir + " --games "
	require.Equal(t, 6, decoded[match.Report](t, succeeds(t, line+"2")).Games)
	for _, name := range []string{"journal.jsonl", ladderReport, ladderPicture, program.RunFile} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	out := succeeds(t, line+"4")
	require.Equal(t, 12, decoded[match.Report](t, out).Games)
	require.JSONEq(t, out, read(filepath.Join(dir, ladderReport)))

	alias := "ladder blockbattle random me=first --games 2 --out " + t.TempDir()
	require.Regexp(t, `\n +2 +me +2 `, succeeds(t, alias))
	fails(t, 2, "is of other entrants", strings.Replace(alias, "me=first", "me=hand:ply=1", 1))

	misused(t, "ladder ", map[string]string{
		"blocking random first --games 3":                    "--games 3: want at least 1, and an even",
		"blocking random --out " + t.TempDir():               "a ladder of 1 agents",
		"blocking random first --workers=-1":                 "--workers -1, --cap",
		"blocking random nobody":                             `unknown agent "nobody"`,
		"blockbattle random --bot /nowhere/bot":              `unknown agent "/nowhere/bot"`,
		"blocking random first --cap 9 --out " + t.TempDir(): "--cap and --steps are for games of one seat",
	})
}
