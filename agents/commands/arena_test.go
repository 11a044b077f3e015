package commands

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

// The report and the records do not depend on the number of workers.
func TestArenaPrintsOneLineOfJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl.gz")
	line := "arena blockbattle --a random --b random --games 60 --seed 7 --json"
	out, errs := ends(t, 0, line+" --record "+path)
	require.Empty(t, errs, "no bar where there is no terminal")
	got := decoded[match.Report](t, out)
	require.Equal(t, []int{60, 2, 30}, []int{got.Games, got.Seats, got.Units})
	require.Equal(t, 60, got.Meetings[0].Total())
	require.Len(t, checked(t, path), 60)
	require.Equal(t, "7", envtest.Must(program.ReadRun(path+".run.json")).Seed)
	require.Equal(t, out, succeeds(t, line+" --workers 1"))
}

func TestArenaPrintsForPeople(t *testing.T) {
	out := succeeds(t, "arena blockbattle --a random --b first --games 20 --seed 7")
	require.Equal(t, `blockbattle: random against first, seed 7
games   20: 20 wins, 0 draws, 0 losses
pairs   0 lost, 0 at ½, 0 at 1, 0 at 1½, 10 won
score   100.00 %, 95 % interval 69.15 to 100.00
Elo     +636, 95 % interval +140 to +636
`, out)
	out = succeeds(t, "arena blockbattle --a first --b first --games 4")
	require.Contains(t, out, "pairs   0 lost, 0 at ½, 2 at 1, 0 at 1½, 0 won; the same game twice in 2\n")
	out = succeeds(t, "arena blockbattle --a random --b random --games 20")
	require.Regexp(t, `won\nscore .*\nElo .*; normalised [+-]\d+, -\d+ to [+]\d+\n$`, out)
	out = succeeds(t, "arena blockbattle --a random --b first --games 2000 --sprt 0,200")
	envtest.Has(t, out, "SPRT    Elo 0 against 200: LLR", ": H1\n")
}

// Ctrl-C ends the context; the arena reports and records the pairs played before.
func TestArenaReportsWhatWasPlayedBeforeCtrlC(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	list, _ := envtest.Must2(players(t.Context(), games.All[0], "random"))
	random := list[0]
	b, made := random, 0
	b.New = func(seed uint64) (env.Agent, error) {
		if made++; made == 21 {
			cancel()
		}
		return random.New(seed)
	}
	var out, errs bytes.Buffer
	c := &arenaCmd{Record: path, JSON: true}
	err := c.play(ctx, &console{In: strings.NewReader(""), Out: &out, Err: &errs}, match.Match{
		Rules: games.All[0], Players: []match.Player{random, b}, Units: 1 << 30, Workers: 1,
	})
	require.NoError(t, err)
	got := decoded[match.Report](t, out.String())
	require.True(t, got.Stopped)
	require.Equal(t, 20, got.Games)
	require.Len(t, checked(t, path), 20)
}

// TestArenaTakesEveryAgent: programs and sources play, under the names that the user gives them, and a person does not.
func TestArenaTakesEveryAgent(t *testing.T) {
	path, python := filepath.Join(t.TempDir(), "games.jsonl"), envtest.File(t, "fall.py", entries["dropper.py"])
	succeeds(t, "arena blockbattle:classic --a fall="+python+" --b cheap=hand:ply=1 --games 2 --record "+path)
	require.Equal(t, []string{"fall", "cheap"}, checked(t, path)[0].Agents)
	misused(t, "arena ", map[string]string{
		"blockbattle --a human --b hand":          "a person plays with agents play",
		"blockbattle --a hand --b exec:nosuchbot": "program nosuchbot: executable file not found",
		"wintetris --a exec:cat --b hand":         "a program cannot play wintetris here",
		"blockbattle --a x=y=hand --b hand":       "two names, x and y",
		"blockbattle --a hand --b " + t.TempDir(): "no source file",
	})
}

func TestArenaOfOneSeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	line := "arena wintetris --a hand --b random --games 6 --seed 3 --cap-lines 30 --steps 200"
	got := decoded[match.Report](t, succeeds(t, line+" --json --record "+path))
	require.Equal(t, map[string]string{"cap": "30", "steps": "200"}, got.Settings)
	require.Equal(t, []int{12, 6}, []int{got.Games, got.Units})
	require.Equal(t, match.Counts{Wins: 6}, got.Meetings[0].Counts)
	require.GreaterOrEqual(t, got.Players[0].Points.Worst, 15)
	require.Empty(t, got.Players[1].Ends, "every game ended")
	require.Len(t, checked(t, path), 12)

	out := succeeds(t, line)
	require.Contains(t, out, "hand and random, each alone, seed 3, 6 games, stopped at score 30, stopped after 200 choices")
	require.Contains(t, out, "by seed   6 wins")
	out = succeeds(t, "arena wintetris:tick --a hand:parts=1 --games 2 --steps 40 --workers 1")
	require.Contains(t, out, "per end   none in a score of")
	require.NotContains(t, out, "by seed")
}

func TestArenaRefuses(t *testing.T) {
	misused(t, "arena ", map[string]string{
		"wintetris --a hand --games 0":                            "--games 0: want a number from 1",
		"wintetris --a hand --cap=-1":                             "--cap -1, --skip 0",
		"wintetris --a hand --seats 2":                            "the game is for one",
		"wintetris --a hand --sprt 0,5":                           "--sprt is for two seats",
		"blockbattle --a first --b first --games 2 --steps 4":     "are for games of one seat",
		"tetrisduel --a first --b first --games 2 --cap 4":        "tetrisduel has more",
		"tetrisduel --a first --b first --games 2 --seats 3":      "--seats 3: tetrisduel is for 2 to 2",
		"blocking --a hand --b hand --seats 3 --games 4":          "want a multiple of 3",
		"blocking --a hand --b hand --seats 5 --games 5":          "is for 2 to 4",
		"blocking --a hand --b hand --seats 3 --games 3 --sprt 1": "for two seats",
	})
}

func TestArenaForMoreSeats(t *testing.T) {
	out := succeeds(t, "arena blocking --a hand:ply=1 --b random --seats 4 --games 8 -q")
	envtest.Has(t, out, "blocking for 4: one hand:ply=1 among random", "games   8 in 2 sets, first in 8")
	got := decoded[match.Report](t, succeeds(t, "arena blocking --a random --b random --seats 3 --games 3 -q --json"))
	require.Equal(t, 1, got.Units)
}

// The clairvoyant plays in the arena, with its own name in the report and in records, which replay. No other command
// takes it, nor does the arena under another name or on other machines.
func TestArenaAloneTakesTheClairvoyant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	line := "arena blockbattle --a clairvoyant:pieces=1,width=2 --b hand:ply=1 --games 2 --seed 3"
	out := succeeds(t, line+" --record "+path)
	require.Contains(t, out, "blockbattle: clairvoyant:pieces=1,width=2 against hand:ply=1, seed 3\n")
	require.Len(t, checked(t, path), 2)
	require.Contains(t, succeeds(t, "arena blockbattle --b clairvoyant --a first --games 2"), "first against clairvoyant, ")
	for _, line := range []string{
		line + " --cluster", "arena blockbattle --a x=clairvoyant --b first --games 2",
		"ladder blockbattle clairvoyant first --games 2 --out " + t.TempDir(), "bot blockbattle --agent clairvoyant",
		"play blockbattle --a clairvoyant --b first", "host blockbattle --bot clairvoyant --bot first",
	} {
		fails(t, 2, bots.ErrClairvoyant.Error(), line)
	}
	fails(t, 2, "hides nothing", "arena tetrisduel --a clairvoyant --b first --games 2")
}
