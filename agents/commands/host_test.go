package commands

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/viewer"
)

// A bot in another language: it drops every piece where it is, and says so.
const dropper = `while read -r who x; do case "$who" in action) echo "asked $x" >&2; echo drop;; esac; done`

// hostMatch runs "agents host blockbattle" with these bots and flags.
func hostMatch(t *testing.T, ctx context.Context, a, b string, flags ...string) (int, string, string) {
	t.Helper()
	return command(ctx, append([]string{"host", "blockbattle", "--bot", a, "--bot", b}, flags...)...)
}

// built builds this program.
func built(t *testing.T) string {
	t.Helper()
	return compiletest.Once("agents", func(path string) {
		out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "..").CombinedOutput()
		require.NoError(t, err, string(out))
	})
}

func TestHostPlaysTwoPrograms(t *testing.T) {
	ours := built(t) + " bot blockbattle --agent hand:ply=1"
	for _, flags := range [][]string{
		{},
		{"--dialect", "port"},
		{"--profile", "classic"},
		{"--profile", "port", "--dialect", "port"},
		{"--profile", "port"},
		{"--dialect", "beta"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "games.jsonl.gz")
			status, out, errs := hostMatch(t, t.Context(), ours, dropper,
				append(flags, "--games", "2", "--seed", "3", "--json", "--record", file, "--log", dir)...)
			require.Zero(t, status, errs)
			require.Empty(t, errs)
			got := decoded[match.Report](t, out)
			require.Equal(t, 2, got.Games)
			require.Equal(t, 2, got.Meetings[0].Wins)
			require.Equal(t, 1.0, got.Meetings[0].Score.Value)
			for _, b := range got.Players {
				require.Positive(t, b.Program.Answers)
				require.Zero(t, b.Program.Timeouts)
				require.Zero(t, b.Program.Ended)
			}
			require.Len(t, checked(t, file), 2)
			for _, path := range []string{file + ".run.json", filepath.Join(dir, program.RunFile)} {
				made, err := program.ReadRun(path)
				require.NoError(t, err)
				require.Equal(t, "3", made.Seed)
			}
			log, err := os.ReadFile(filepath.Join(dir, "game-001.log"))
			require.NoError(t, err)
			bank := " < settings timebank 10000\n"
			if slices.Contains(flags, "beta") {
				bank = " < settings time_bank 10000\n"
				require.NotContains(t, string(log), " skips ")
			}
			for _, want := range []string{
				bank, " > drop\n", " ! asked move", "Game over: ", " is " + ours + "\n", "\nTurn 1, round 2\n",
			} {
				require.Contains(t, string(log), want)
			}
			rec, _, err := viewer.ReadGame(t.Context(), filepath.Join(dir, "game-001.log"), 1, 0)
			require.NoError(t, err)
			turns, err := gamelog.Read("game-001.log", bytes.NewReader(log))
			require.NoError(t, err)
			require.Len(t, turns, len(rec.Choices)/2, "the turns of the log are those of the record")
		})
	}
}

// Deterministic bots with swapped seats repeat a game of Block Battle, so every game has a new seed by default. In a
// game of turns the seat matters, and both games of a pair have one seed.
func TestHostCountsDistinctGames(t *testing.T) {
	ours := built(t) + " bot blockbattle --agent "
	for flags, want := range map[string][2]int{ // seeds and distinct games
		"":                {4, 4},
		"--new-seed game": {4, 4},
		"--new-seed pair": {2, 2},
	} {
		args := append([]string{"--games", "4", "-q"}, strings.Fields(flags)...)
		status, out, errs := hostMatch(t, t.Context(), ours+"hand:ply=1", ours+"terms6:ply=1", args...)
		require.Zero(t, status, errs)
		seeds := map[string]bool{}
		for _, row := range regexp.MustCompile(`(?m)^ +\d+ +(\d{15,})`).FindAllStringSubmatch(out, -1) {
			seeds[row[1]] = true
		}
		require.Len(t, seeds, want[0], out)
		require.Contains(t, out, fmt.Sprintf("\ndistinct games: %d of 4", want[1]))
		require.Equal(t, want[1] < 4, strings.Contains(out, "--new-seed game"))
	}
	duel := built(t) + " bot tetrisduel --agent "
	for flag, want := range map[string]int{"pair": 1, "game": 2} {
		status, out, errs := hostDuel(t, duel+"hand:ply=1", duel+"hand:ply=1", "--new-seed", flag, "-q")
		require.Zero(t, status, errs)
		require.Contains(t, out, fmt.Sprintf("distinct games: %d of 2", want), "the same program on both seats")
	}
	status, out, errs := hostDuel(t, duel+"hand:ply=1", duel+"first", "-q")
	require.Zero(t, status, errs)
	require.Contains(t, out, "distinct games: 2 of 2", "it matters who begins")
}

func TestHostEndsABotThatIsSlow(t *testing.T) {
	slow := `while read -r who x; do case "$who" in action) sleep 0.2; echo drop;; esac; done`
	status, out, errs := hostMatch(t, t.Context(), dropper, slow, "--games", "2", "--json",
		"--timebank", "20ms", "--time-per-move", "20ms", "--timeouts", "2")
	require.Zero(t, status, errs)
	got := decoded[match.Report](t, out)
	require.Equal(t, 2, got.Games)
	require.Equal(t, 4, got.Players[1].Program.Timeouts)
	require.Equal(t, 2, got.Players[1].Program.Ended)
}

func TestHostPlaysOnWithoutABotThatEnds(t *testing.T) {
	status, out, errs := hostMatch(t, t.Context(), dropper, "false", "--games", "1")
	require.Zero(t, status, errs)
	require.Contains(t, out, "A: while read")
	require.Contains(t, out, "\nB: false\n")
	require.Contains(t, errs, "player1: asked moves 10000")
}

func TestHostStopsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	file, begun := filepath.Join(dir, "games.jsonl"), filepath.Join(dir, "begun")
	go cancelAt(ctx, cancel, begun) // when the bot has been asked
	asked := `while read -r who x; do case "$who" in action) touch ` + begun + `; sleep 600;; esac; done`
	status, out, errs := hostMatch(t, ctx, asked, dropper, "--timebank", "10m", "--record", file, "-q")
	require.Zero(t, status, errs)
	require.Contains(t, out, "stopped early")
	require.FileExists(t, file)
}

// cancelAt cancels a context when a file is there.
func cancelAt(ctx context.Context, cancel func(), file string) {
	for ctx.Err() == nil {
		if _, err := os.Stat(file); err == nil {
			cancel()
		}
		time.Sleep(time.Millisecond)
	}
}

func TestHostRefuses(t *testing.T) {
	misused(t, "", map[string]string{
		"host blockbattle --bot a":                           "1 bots, want --bot twice",
		"host chess --bot a --bot b":                         `no game "chess"`,
		"host blockbattle --bot a --bot b --games 0":         "want a number from 1",
		"host blockbattle --bot a --bot b --timebank=-1s":    "--timebank -1s: want a time of at least 1ns",
		"host blockbattle --bot a --bot b --dialect dutch":   "dutch",
		"host blockbattle --bot /no/such/bot --bot true":     `bot 1: agent "/no/such/bot": unknown agent`,
		"host tetrisduel --bot true --bot exec:/no/such/bot": `bot 2: agent "exec:/no/such/bot": program /no/such/bot: no such file`,
		"host blocking --bot /no/such/bot --bot true":        `bot 1: agent "/no/such/bot": unknown agent`,
		"host blockbattle --bot true --bot human":            "a person plays with agents play",
		"host blockbattle local --bot true --bot true":       `"local": want --bot before each bot`,
		"host blockbattle --bot true --bot true --seed -5":   "--seed -5: want a whole number from 0",
		"bot chess":                                             `no game "chess"`,
		"bot blockbattle --agent nobody":                        `unknown agent "nobody"`,
		"bundle chess --out x.go":                               `no game "chess"`,
		"bundle blockbattle --out x.go --hand --weights x":      "do not go together",
		"bundle blockbattle --out bot.zip":                      "--out bot.zip: want the name of a Go file, such as bot.go",
		"bundle blockbattle --out x.go --weights /no/such/file": "/no/such/file",
		"bundle blockbattle":                                    "--out",
	})
}

func TestBundleCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bot.go")
	status, text, errs := agents(t.Context(), "bundle blockbattle --ply 2 --zip --out "+out)
	require.FileExists(t, out+".run.json", errs)
	require.Zero(t, status, errs)
	require.Contains(t, text, "547 answers, no breach of protocol")
	src, err := os.ReadFile(out)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(src, []byte("// Code generated by blockyard")))
	require.FileExists(t, strings.TrimSuffix(out, ".go")+".zip")
}

// Each game's contest has its own flags, and refuses those of others by name, before and after the game.
func TestHostRefusesFlagsOfOtherGames(t *testing.T) {
	for line, flag := range map[string]string{
		"blockbattle --pairs 2":                       "--pairs",
		"blockbattle --budget 1s":                     "--budget",
		"--tie time blockbattle":                      "--tie",
		"blockbattle --seatings all":                  "--seatings",
		"blockbattle --own-dir":                       "--own-dir",
		"tetrisduel --shapes nofile":                  "--shapes",
		"blocking --timebank 1s":                      "--timebank",
		"--tolerance 1s blockbattle:port":             "--tolerance",
		"TetrisDuel-v0 --profile port":                "--profile",
		"--dialect port dropblox":                     "--dialect",
		"blockbattle:classic --moves off --bot third": "--moves",
	} {
		status, out, errs := agents(t.Context(), "host "+line+" --bot a --bot b")
		require.Equal(t, 2, status, line)
		require.Empty(t, out, line)
		require.Contains(t, errs, flag+" is no option of this contest, which has --", line)
		require.NotContains(t, strings.SplitN(errs, "which has", 2)[1], flag+" ", line)
	}
	status, _, errs := agents(t.Context(), "host blockbattle --shades 2")
	require.Equal(t, 2, status)
	require.Regexp(t, "the flags of agents host are --bot .*--games .*--seatings .*--timebank", errs)
}

// Flags stand before or after the game, with values or without.
func TestHostTakesFlagsAnywhere(t *testing.T) {
	for line, want := range map[string]string{
		"host -qh blockbattle":                 "--timebank",
		"host --version blockbattle":           "agents devel",
		"host --help":                          "--seatings",
		"host blocking --help":                 "blockbattle, tetrisduel, blocking",
		"host --own-dir --turns 1 dropblox -h": "--own-dir",
	} {
		out := succeeds(t, line)
		require.Contains(t, out, want, line)
	}
	_, out, _ := agents(t.Context(), "host blocking --help")
	for _, other := range []string{"--timebank", "--own-dir", "\ntetrisduel: "} {
		require.NotContains(t, out, other, "only the options of the game")
	}
	t.Chdir(t.TempDir())
	fails(t, "host --own-dir dropblox", 2, `unknown agent "dropblox_ai"`) // the game behind a flag without a value
}

// A bot may be an agent, and have a name.
func TestHostPlaysAgents(t *testing.T) {
	for game, patience := range map[string]string{
		"blockbattle": "--time-per-move 20s", "tetrisduel": "--budget 1m", "blocking": "--tolerance 20s",
	} {
		line := "host " + game + " --bot Ann=hand:ply=1 --bot random -q --games 2 " + patience
		out := succeeds(t, line)
		require.Contains(t, out, "A: Ann\nB: random\n", game)
		require.Contains(t, out, "Ann won 2, drew 0 and lost 0 of 2 games against random", game)
	}
}

// A variant's name chooses the rules; --profile may only repeat it.
func TestHostPlaysVariants(t *testing.T) {
	for line, want := range map[string]string{
		"blockbattle":                           "blockbattle",
		"blockbattle --profile port":            "blockbattle:port",
		"blockbattle:port":                      "blockbattle:port",
		"blockbattle:port --profile port":       "blockbattle:port",
		"--profile classic blockbattle:classic": "blockbattle:classic",
	} {
		out := succeeds(t, "host "+line+" --bot false --bot false --games 1 --json")
		require.Contains(t, out, `{"game":"`+want+`",`, line)
	}
	misused(t, "host --bot a --bot b ", map[string]string{
		"blockbattle:port --profile classic":  "--profile classic conflicts with blockbattle:port",
		"blockbattle:port --profile document": "--profile document conflicts with blockbattle:port",
		"":                                    `expected "<game>`,
		"wintetris":                           "wintetris has no contest between programs",
	})
}
