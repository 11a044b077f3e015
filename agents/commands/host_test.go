package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/viewer"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// Bots in other languages.
const (
	// dropper drops every piece of Block Battle where it is, and says so.
	dropper = `while read -r who x; do case "$who" in action) echo "asked $x" >&2; echo drop;; esac; done`
	// pythonBot is a bot of Tetris Duel's original style that uses every method it is offered.
	pythonBot = "python3 -B ../bots/tetrisduelbot/pybot.py ../bots/tetrisduelbot/testdata/everymethod.py"
	// lister answers the first placement of the list, and passer never names one.
	lister = `while read -r w x; do case "$w" in blocks) echo ready;; moves) read -r m; echo "$m";; esac; done`
	passer = `while read -r w x; do case "$w" in blocks) echo ready;; moves) echo pass;; esac; done`
	// listed answers the first placement that Blocking sends it.
	listed = `python3 -c '
import sys
def lines(n):
    return [next(sys.stdin).strip() for _ in range(int(n))]
lines(lines(1)[0])
_, me, n, _ = lines(4)
print("I am", me, file=sys.stderr, flush=True)
while True:
    try:
        lines(n), lines(lines(1)[0])
        print(lines(lines(1)[0])[0], flush=True)
    except (StopIteration, RuntimeError):
        break
'`
)

// hosts runs "agents host" with these bots, and returns its output and errors.
func hosts(t *testing.T, line string, bots ...string) (out, errs string) {
	return ends(t, 0, "host "+line, flagged(bots)...)
}

// flagged are the flags for bots.
func flagged(bots []string) (flags []string) {
	for _, b := range bots {
		flags = append(flags, "--bot", b)
	}
	return flags
}

// TestHostPlaysPrograms: in each contest, our bot plays two games against others in another language. The report, the
// records and the log of the first game agree, and the log has all that was said.
func TestHostPlaysPrograms(t *testing.T) {
	logs := map[string][]string{ // what each log of a game has
		"blockbattle": {" > drop\n", " ! asked move", "Game over: ", "\nTurn 1, round 2\n"},
		"tetrisduel": {`player1 > ready\nplayer1 @ \d+\.\d{3} ms of 10000\.000 ms; wall \d+\.\d{3} ms, CPU `,
			"player2 ! this must not disturb the dialogue\n", `player1 < end [012] (limit|overflow) \d+ \d+\n`},
		"blocking": {"player0 < ABCD", "player1 > 12 12 ", "player1 ! I am 1\n", "Turn 2\n"},
	}
	for _, c := range []struct {
		line, game string
		others     []string
		log        string // what the log has, too
	}{
		{"blockbattle", "blockbattle", []string{dropper}, " < settings timebank 10000\n"},
		{"blockbattle --dialect port", "blockbattle", []string{dropper}, " < settings timebank 10000\n"},
		{"blockbattle --profile classic", "blockbattle:classic", []string{dropper}, " < settings timebank 10000\n"},
		{"blockbattle:port --profile port", "blockbattle:port", []string{dropper}, " < settings timebank 10000\n"},
		{"blockbattle --dialect beta", "blockbattle", []string{dropper}, " < settings time_bank 10000\n"},
		{"tetrisduel --pairs 1", "tetrisduel", []string{pythonBot}, ""},
		{"blocking --tolerance 5s --early-end on", "blocking", []string{listed, listed, listed}, ""},
		{"blocking --tolerance 5s --early-end off", "blocking", []string{listed}, ""},
	} {
		t.Run(fmt.Sprintf("%s, %d bots", c.line, 1+len(c.others)), func(t *testing.T) {
			game, _, _ := strings.Cut(c.game, ":")
			ours, dir := own()+" bot "+game+" --agent hand:ply=1", t.TempDir()
			file := filepath.Join(dir, "games.jsonl.gz")
			out, errs := hosts(t, c.line+" --seed 3 --json --record "+file+" --log "+dir, append([]string{ours}, c.others...)...)
			require.Empty(t, errs)
			got := decoded[match.Report](t, out)
			require.Equal(t, c.game, got.Game)
			requirePlayed(t, game, &got)
			recs := checked(t, file)
			require.Len(t, recs, 2)
			for k, g := range got.Played {
				require.Equal(t, g.Reason, recs[k].Meta["reason"])
			}
			for _, path := range []string{file + ".run.json", filepath.Join(dir, program.RunFile)} {
				require.Equal(t, "3", envtest.Must(program.ReadRun(path)).Seed)
			}

			path := filepath.Join(dir, "game-001.log")
			log := read(path)
			for _, want := range append(logs[game], c.log) {
				require.Regexp(t, want, log)
			}
			require.Contains(t, log, " is "+ours+"\n")
			require.Equal(t, strings.Count(log, " > "), strings.Count(log, " @ "), "every answer has its time")
			require.False(t, strings.Contains(c.line, "beta") && strings.Contains(log, " skips "))
			rec, _ := envtest.Must2(viewer.ReadGame(t.Context(), path, 1, 0))
			turns := envtest.Must(gamelog.Read("game-001.log", strings.NewReader(log)))
			if game == "blockbattle" {
				require.Len(t, turns, len(rec.Choices)/2, "the turns of the log are those of the record")
			}
		})
	}
}

// requirePlayed checks a report of two games, in which nobody made a fault.
func requirePlayed(t *testing.T, game string, got *match.Report) {
	require.Equal(t, 2, got.Games)
	require.Equal(t, len(got.Players) == 2, got.Winner != "")
	for _, p := range got.Players {
		require.Positive(t, p.Program.Answers)
		require.Zero(t, p.Program.Timeouts+p.Program.Ended)
		require.True(t, len(p.Faults) == 0 || game != "blocking", "other games call the end of a side a fault")
	}
	require.NotEqual(t, got.Played[0].Seats, got.Played[1].Seats)
	require.Equal(t, game != "blockbattle", got.Played[0].Seed == got.Played[1].Seed, "games of turns come in pairs")
	switch game {
	case "blockbattle":
		require.Equal(t, 2, got.Meetings[0].Wins)
	case "blocking":
		require.Less(t, got.Players[0].Rank.Value, got.Players[1].Rank.Value)
	case "tetrisduel":
		for _, g := range got.Played {
			require.Contains(t, []string{"limit", "overflow"}, g.Reason)
			require.Greater(t, g.Rounds, 20)
		}
	}
}

// TestHostFaults: the table, or what bots say on standard error, tells of every fault, and the games go on.
func TestHostFaults(t *testing.T) {
	slow := `while read -r who x; do case "$who" in action) sleep 0.2; echo drop;; esac; done`
	file := filepath.Join(t.TempDir(), "duels.jsonl")
	for _, c := range []struct {
		line        string
		bots, wants []string
	}{
		{"blockbattle --games 2 --json --timebank 20ms --time-per-move 20ms --timeouts 2", []string{dropper, slow},
			[]string{`"games":2,`, `"timeouts":4,`, `"ended_early":2,`}},
		{"blockbattle --games 1", []string{dropper, "false"},
			[]string{"A: while read", "\nB: false\n", "player1: asked moves 10000"}},
		{"blocking --games 3 --tolerance 5s", []string{listed, "false", "false"}, []string{"elimination", "exit 3", "player0: I am 0"}},
		{"tetrisduel --games 3 --record " + file, []string{lister, passer},
			[]string{"100.0 %", "illegal 3\n", "winner of the match: A"}},
		{"tetrisduel --games 2", []string{"exit 0;", lister}, []string{"missing 2\n"}},
		{"tetrisduel --games 1 --json", []string{lister, "exit 0;"}, []string{`"reason":"missing"`}},
		{"tetrisduel --games 1 --moves off", []string{passer, lister}, []string{"illegal 1"}},
	} {
		out, errs := hosts(t, c.line, c.bots...)
		for _, want := range c.wants {
			require.Contains(t, out+errs, want, c.line)
		}
	}
	rec := checked(t, file)[0]
	require.Equal(t, "illegal", rec.Meta["reason"])
	require.Equal(t, []float32{1, -1}, rec.Results)
}

// Deterministic bots with swapped seats repeat a game of Block Battle, so every game has a new seed by default. In a
// game of turns the seat matters, and both games of a pair have one seed.
func TestHostCountsDistinctGames(t *testing.T) {
	for _, c := range []struct {
		line, a, b             string
		games, seeds, distinct int
	}{
		{"blockbattle --games 2", "hand:ply=1", "first", 2, 2, 2},
		{"blockbattle --games 4 --new-seed pair", "hand:ply=1", "first", 4, 2, 2},
		{"tetrisduel --new-seed pair", "first", "first", 2, 1, 1},
		{"tetrisduel --new-seed game", "first", "first", 2, 2, 2},
		{"tetrisduel", "Ann=hand:ply=1", "first", 2, 1, 2}, // it matters who begins
	} {
		out, _ := hosts(t, c.line+" -q", c.a, c.b)
		seeds := map[string]bool{}
		for _, row := range regexp.MustCompile(`(?m)^ +\d+ +(\d{15,})`).FindAllStringSubmatch(out, -1) {
			seeds[row[1]] = true
		}
		require.Len(t, seeds, c.seeds, out)
		require.Contains(t, out, "\nA: "+strings.TrimSuffix(c.a, "=hand:ply=1")+"\nB: "+c.b+"\n")
		require.Contains(t, out, fmt.Sprintf("\ndistinct games: %d of %d", c.distinct, c.games))
		require.Equal(t, c.distinct < c.games, strings.Contains(out, "--new-seed game"), c.line)
	}
}

func TestHostStopsWhenTold(t *testing.T) {
	dir := t.TempDir()
	file, begun := filepath.Join(dir, "games.jsonl"), filepath.Join(dir, "begun")
	asked := `while read -r who x; do case "$who" in action) touch ` + begun + `; sleep 600;; esac; done`
	r := begin(t, nil, "host blockbattle --timebank 10m -q --record "+file, flagged([]string{asked, dropper})...)
	present(t, begun) // the bot has been asked
	require.Zero(t, r.stop(t), r.errs.String())
	require.Contains(t, r.out.String(), "stopped early")
	require.FileExists(t, file)
}

func TestHostRefuses(t *testing.T) {
	misused(t, "", map[string]string{
		"host blockbattle --bot a":                              "1 bots, want --bot twice",
		"host blocking --bot a":                                 "1 bots, want --bot twice to four times",
		"host blocking --bot a --bot b --bot c --bot d --bot e": "5 bots",
		"host chess --bot a --bot b":                            `no game "chess"`,
		"host blockbattle --bot /no/such/bot --bot true":        `bot 1: agent "/no/such/bot": unknown agent`,
		"host tetrisduel --bot true --bot exec:/no/such/bot":    `bot 2: agent "exec:/no/such/bot": program /no/such/bot: no such file`,
		"host blockbattle --bot true --bot human":               "a person plays with agents play",
		"host blockbattle local --bot true --bot true":          `"local": want --bot before each bot`,
		"bot chess":                                             `no game "chess"`,
		"bot blockbattle --agent nobody":                        `unknown agent "nobody"`,
		"bundle chess --out x.go":                               `no game "chess"`,
		"bundle blockbattle --out x.go --hand --weights x":      "do not go together",
		"bundle blockbattle --out bot.zip":                      "--out bot.zip: want the name of a Go file, such as bot.go",
		"bundle blockbattle --out x.go --weights /no/such/file": "/no/such/file",
	})
	misused(t, "host --bot a --bot b ", map[string]string{
		"blockbattle --games 0":              "--games: want a number from 1",
		"blockbattle --seed -5":              "--seed -5: want a whole number from 0",
		"blockbattle --timebank=-1s":         "--timebank -1s: want a time of at least 1ns",
		"blockbattle --dialect dutch":        "dutch",
		"blockbattle:port --profile classic": "--profile classic conflicts with blockbattle:port",
		"TetrisDuel-v0 --pairs=-1":           "--pairs -1: want a whole number from 1",
		"TetrisDuel-v0 --pairs 1 --games 2":  "one flag that says how many",
		"TetrisDuel-v0 --budget=-1s":         "--budget -1s: want a time of at least",
		"TetrisDuel-v0 --moves maybe":        "--moves maybe: want on or off",
		"blocking --shapes /no/such":         "/no/such",
		"":                                   `expected "<game>`,
		"wintetris":                          "wintetris has no contest between programs",
	})
}

func TestBundleCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bot.go")
	require.Contains(t, succeeds(t, "bundle tetrisduel --ply 2 --zip --out "+out), "368 answers, no breach of protocol")
	require.FileExists(t, out+".run.json")
	require.True(t, strings.HasPrefix(read(out), "// Code generated by blockyard"))
	require.FileExists(t, strings.TrimSuffix(out, ".go")+".zip")
}

// Each game's contest has its own flags, and refuses those of others by name, before and after the game.
func TestHostRefusesFlagsOfOtherGames(t *testing.T) {
	for line, flag := range map[string]string{
		"blockbattle --pairs 2":                       "--pairs",
		"--tie time blockbattle":                      "--tie",
		"blockbattle --own-dir":                       "--own-dir",
		"tetrisduel --shapes nofile":                  "--shapes",
		"--tolerance 1s blockbattle:port":             "--tolerance",
		"TetrisDuel-v0 --profile port":                "--profile",
		"--dialect port dropblox":                     "--dialect",
		"blockbattle:classic --moves off --bot third": "--moves",
	} {
		out, errs := ends(t, 2, "host "+line+" --bot a --bot b")
		require.Empty(t, out, line)
		require.Contains(t, errs, flag+" is no option of this contest, which has --", line)
		require.NotContains(t, strings.SplitN(errs, "which has", 2)[1], flag+" ", line)
	}
	fails(t, 2, `unknown agent "dropblox_ai"`, "host --own-dir dropblox") // the game behind a flag without a value
	_, errs := ends(t, 2, "host blockbattle --shades 2")
	require.Regexp(t, "the flags of agents host are --bot .*--games .*--seatings .*--timebank", errs)
}

// TestHostSubmissions: bots may be an archive and a source file, whose names may have blanks; what does not compile is
// said with the compiler's words.
func TestHostSubmissions(t *testing.T) {
	source := envtest.File(t, "my dropper.py", entries["dropper.py"])
	archive := envtest.File(t, "bot.zip", compiletest.Zip(t, "bot/main.c", entries["dropper.c"]))
	out, _ := hosts(t, "blockbattle --games 1 --seed 1", source, archive)
	require.Contains(t, out, "A: my dropper\nB: bot\n")
	require.NotContains(t, out, "time-outs 1")

	broken := envtest.File(t, "broken.cpp", entries["broken.cpp"])
	_, errs := ends(t, 1, "host blockbattle", flagged([]string{source, broken})...)
	envtest.Has(t, errs, "broken.cpp\": does not compile: ", "broken.cpp:1")
}

// With other shapes of the pieces, records of every command have the shapes in them, and replay.
func TestHostBlockingWithOtherShapes(t *testing.T) {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####" // upright
	file := envtest.File(t, "shapes.txt", strings.Join(lines, "\n"))
	ours := own() + " bot blocking:shapes=" + file + " --agent hand:ply=1"
	var records strings.Builder
	recorded := func(line string, more ...string) string {
		path := filepath.Join(t.TempDir(), "games.jsonl")
		out := succeeds(t, strings.ReplaceAll(line, "FILE", file)+" --record "+path, more...)
		records.WriteString(read(path))
		return out
	}
	out := recorded("host blocking --shapes FILE --games 2 --json --early-end off --tolerance 5s", "--bot", ours, "--bot", listed)
	require.Regexp(t, `"game":"blocking:shapes=[0-9a-f]{12}"`, out)
	require.NotContains(t, out, `"faults":{`)
	recorded("host blocking:shapes=FILE --tolerance 5s", "--bot", ours, "--bot", ours)
	for _, line := range []string{
		"arena blocking:shapes=FILE --a hand:ply=1 --b learned:ply=1 --games 2",
		"arena blocking:shapes=FILE --a first --b random --seats 3 --games 3",
		"play blocking:shapes=FILE --a learned --b first --seats 4",
	} {
		recorded(line)
	}
	require.NoError(t, os.Remove(file))
	require.Len(t, checked(t, envtest.File(t, "all.jsonl", records.String())), 10)
	require.Equal(t, 10, strings.Count(records.String(), `"E 1 4 ####"`), "every record has the shapes")
}

// habits are bots of Block Battle with one fault each, as a line of Python that answers a request, and what the host
// says about it. n is the number of the request, w writes bytes at once.
var habits = map[string][2]string{
	"no line end": {"w(b'left,drop')", "no answer, but 9 bytes without a line end: end the line and flush"},
	"no flush":    {"sys.stdout.write('left,drop\\n')", "no answer: not a byte has arrived since the request"},
	"two lines":   {"w(b'left,drop\\ndrop\\n')", "writes more lines than it is asked for: only the first line after a request is its answer"},
	"signal":      {"w(b'drop\\n') if n < 3 else os.kill(os.getpid(), 11)", "the program has ended: signal 11 (segmentation fault)"},
	"exception":   {"w(b'drop\\n') if n < 3 else (print('a\\nkaboom \\x1b[2J', file=sys.stderr, flush=True), sys.exit(1))", "the program has ended: exit status 1; standard error ends: \"a / kaboom \\x1b[2J\""},
	"closed":      {"w(b'drop\\n') if n < 3 else (os.close(1), time.sleep(60))", "the program has closed its output but not ended"},
	"flood":       {"\n        while True: w(b'x' * 65536)", "no more is read: it has written 64 MiB in a game"},
	"JSON":        {"w(b'[\"left\",\"drop\"]\\n')", `a remark, such as `},
	"colours":     {"w(b'\\x1b[32mdrop\\x1b[0m\\n')", `a remark, such as "\x1b[32mdrop`},
	"wide":        {"w('drop\\n'.encode('utf-16-le')) if n < 2 else sys.exit()", `a remark, such as "d\x00r\x00o\x00p`},
}

// oddBot is a bot with a habit.
func oddBot(name string) string {
	return "import os, sys, time\nout, n = os.fdopen(1, 'wb', 0, closefd=False), 0\nw = out.write\n" +
		"sys.stdout = open(1, 'w', buffering=1 << 16, closefd=False)\n" +
		"for line in sys.stdin:\n    if line.startswith('action'):\n        n += 1\n        " + habits[name][0] + "\n"
}

// TestHostNamesOddHabits: each habit is named in the table and in the log.
func TestHostNamesOddHabits(t *testing.T) {
	for name, h := range habits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot, bank, dir := envtest.File(t, "bot.py", oddBot(name)), "60s", t.TempDir()
			switch name {
			case "no line end": // by a program that starts at once, so that its bytes come in time
				bot, bank = `while read -r who x; do case "$who" in action) printf left,drop;; esac; done`, "5s"
			case "no flush":
				bank = "2s"
			}
			out, _ := hosts(t, "blockbattle --games 1 --json --log "+dir+" --time-per-move 0s --timebank "+bank, bot, dropper)
			got := decoded[match.Report](t, out)
			require.Contains(t, strings.Join(got.Players[0].Program.Odd, "\n"), h[1])
			require.Empty(t, got.Players[1].Program.Odd)
			require.Contains(t, got.String(), "A: "+got.Players[0].Program.Odd[0]+"\n")
			if !strings.HasPrefix(h[1], "a remark") {
				require.Contains(t, read(filepath.Join(dir, "game-001.log")), "player1 * "+h[1])
			}
		})
	}
}
