package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/compile"
	dropbloxcontest "blockyard/agents/contest/dropblox"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/record"
	"blockyard/env"
	rules "blockyard/env/dropblox"
	"blockyard/env/games"
)

// starterFiles are the starters of a contest by their folder, and the compiler that each needs. A contest that lacks one
// fails the test.
var starterFiles = map[string]struct{ file, tool string }{
	"python": {"bot.py", "python3"}, "cpp": {"bot.cpp", "c++"}, "go": {"bot.go", "go"}, "java": {"Bot.java", "javac"},
}

var dialogueContests = []string{"blockbattle", "tetrisduel", "blocking", "dropblox"}

// starter is the path of a starter.
func starter(game, language string) string {
	return filepath.Join("..", "submit", "starters", game, language, starterFiles[language].file)
}

// hasCompiler reports whether this machine can compile a language's starter. Only Java is optional.
func hasCompiler(t *testing.T, language string) bool {
	t.Helper()
	_, err := exec.LookPath(starterFiles[language].tool)
	if language != "java" {
		require.NoError(t, err)
	}
	return err == nil
}

// starters compiles the starters of a contest, the one in Python first.
func starters(t *testing.T, game string) (list []*tournament.Entrant) {
	t.Helper()
	for _, language := range []string{"python", "cpp", "go", "java"} {
		if !hasCompiler(t, language) {
			t.Logf("no compiler for %s", language)
			continue
		}
		bot, err := compile.Submission(t.Context(), starter(game, language), filepath.Join(t.TempDir(), "b"),
			contest.Uploads{}, compile.Default)
		require.NoError(t, err, language)
		list = append(list, &tournament.Entrant{Name: language, Program: bot.Program, Agent: "exec:" + language})
	}
	return list
}

// starterContest is the contest of a game, with clocks for a busy machine.
func starterContest(t *testing.T, game, dir string, entrants ...*tournament.Entrant) (*tournament.Tournament, *env.Game) {
	t.Helper()
	g, err := games.Lookup(game)
	require.NoError(t, err)
	c := tournamentCmd{Game: game, Out: dir, Seats: 2}
	made, rules := &tournament.Tournament{Config: tournament.Config{Rules: g}, Entrants: entrants}, bots.Of(g).Host
	settings, err := rules.Settings(map[string]contest.Settings{
		"blockbattle": {"timebank": "1m"}, "tetrisduel": {"budget": "1m"}, "blocking": {"first-time": "1m", "time": "1m"},
	}[game])
	require.NoError(t, err)
	_, err = c.setRunner(made, c.Out, rules, settings)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, tournament.LogsDir), 0o755))
	return made, g
}

// TestStarters plays a whole game of every starter against the one in Python, through the contest's own host: none makes
// a fault, and all play the same game, whatever their language.
func TestStarters(t *testing.T) {
	for _, game := range []string{"blockbattle", "tetrisduel", "blocking"} {
		t.Run(game, func(t *testing.T) {
			t.Parallel()
			list := starters(t, game)
			made, g := starterContest(t, game, t.TempDir(), list...)
			play := func(number int, seats ...int) (*match.Played, *record.Record) {
				r := &match.Played{Number: number, Seed: "3", Seats: seats}
				rec, err := made.Runner.Play(t.Context(), r)
				require.NoError(t, err)
				for seat, fault := range r.Faults {
					require.Empty(t, fault, list[seats[seat]].Name)
				}
				require.NoError(t, record.Check(g, rec))
				require.False(t, rec.Stopped)
				return r, rec
			}
			want, first := play(0, 0, 0)
			require.Greater(t, len(first.Choices), 20, "a game of some length")
			for k, e := range list[1:] {
				got, rec := play(k+1, k+1, 0)
				require.Equal(t, want.Points, got.Points, e.Name)
				require.Equal(t, first.Choices, rec.Choices, e.Name)
			}
			if game == "blocking" {
				play(9, 2, 1, 0)
				play(10, []int{0, 1, 2, 3 % len(list)}...)
			}
		})
	}
}

// TestDropbloxStarters: every starter plays a whole game as the sample player, which moves blocks as far to the left as
// they go, as the agent "left" does. Those that start quickly also play a whole game of their own, and all give the same
// commands in the same positions.
func TestDropbloxStarters(t *testing.T) {
	t.Parallel()
	list := starters(t, "dropblox")
	var whole, all []int // those that play a whole game of their own, and the samples, which follow the list
	var left []*tournament.Entrant
	for k, e := range list {
		if e.Name == "cpp" || e.Name == "go" {
			whole = append(whole, k)
		}
		if e.Name != "java" || os.Getenv("BLOCKYARD_LONG") != "" { // it starts slowly, once for every block
			all = append(all, len(list)+k)
		}
		sample := *e
		sample.Program.Argv = append(append([]string{}, e.Program.Argv...), "left")
		left = append(left, &sample)
	}
	made, g := starterContest(t, "dropblox", t.TempDir(), append(slices.Clone(list), left...)...)
	for _, e := range list {
		require.NoError(t, made.Test(t.Context(), e), e.Name)
	}
	for number, seats := range [][]int{whole, all} {
		r := &match.Played{Number: number, Seed: "5", Seats: seats}
		rec, err := made.Runner.Play(t.Context(), r)
		require.NoError(t, err)
		require.NoError(t, record.Check(g, rec))
		for seat, k := range seats {
			require.Empty(t, r.Faults[seat])
			require.Equal(t, r.Points[0], r.Points[seat], list[k%len(list)].Name)
		}
		if number == 0 {
			require.Greater(t, r.Points[0], 10, "low landings clear rows")
			continue
		}
		require.Zero(t, r.Points[0])
		requireLeftmost(t, g, rec.Choices)
	}
	s := g.New(1).(*rules.State)
	s.Reset(7)
	for turn := range 2 {
		var want dropbloxcontest.Turn
		for k, e := range list {
			p := dropbloxcontest.Program{Name: e.Name, Program: e.Program}
			state := dropbloxcontest.JSON(s)
			if turn > 0 {
				state = introduced(t, state)
			}
			got, err := p.Turn(t.Context(), state, time.Minute)
			require.NoError(t, err)
			if k == 0 {
				want = got
			}
			require.Equal(t, want.Commands, got.Commands, "%s, turn %d", e.Name, turn)
		}
		s.Play(want.Commands)
	}
}

// introduced returns a state with the faults of the example in the contest's introduction: a comma is
// missing after the block, and two are too many.
func introduced(t *testing.T, state []byte) []byte {
	t.Helper()
	text := string(state)
	before, block, _ := strings.Cut(text, `"block": {`)
	block, after, ok := strings.Cut(block, `}, "`)
	require.True(t, ok, text)
	return []byte(before + `"block": {` + block + `} "` + strings.TrimSuffix(after, "}") + ", ,}")
}

// requireLeftmost plays the agent "left" on seed 5: it makes these choices, and the game is then over.
func requireLeftmost(t *testing.T, g *env.Game, choices []env.Action) {
	t.Helper()
	factory, err := bots.New(g, bots.Own("left"))
	require.NoError(t, err)
	left, err := factory(1)
	require.NoError(t, err)
	s := g.New(1).(*rules.State)
	require.NoError(t, s.ResetSeed("5"))
	for _, want := range choices {
		got, err := left.Act(t.Context(), s, 0)
		require.NoError(t, err)
		require.Equal(t, want, got)
		s.Step(env.Moves{got})
	}
	require.True(t, s.Failed)
}

// TestStartersAreSmall: a starter is read in one go, and every contest has all of them and says how to host them.
func TestStartersAreSmall(t *testing.T) {
	most := map[string]int{"dropblox": 130} // its bots read JSON and drop blocks
	for _, game := range dialogueContests {
		readme := read(t, filepath.Join("..", "submit", "starters", game, "README.md"))
		for language := range starterFiles {
			lines := strings.Split(strings.TrimSuffix(read(t, starter(game, language)), "\n"), "\n")
			require.LessOrEqual(t, len(lines), max(100, most[game]), "%s in %s", game, language)
			for k, line := range lines {
				require.LessOrEqual(t, len([]rune(line)), 120, "%s in %s, line %d", game, language, k+1)
			}
			require.Contains(t, readme, language+"/"+starterFiles[language].file)
		}
		require.Contains(t, readme, "agents host "+game)
		require.Contains(t, readme, "agents tournament "+game)
	}
}
