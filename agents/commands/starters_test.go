package commands

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile"
	dropbloxcontest "blockyard/agents/contest/dropblox"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	rules "blockyard/env/dropblox"
	"blockyard/env/envtest"
)

// starterFiles are the starter of a contest in each language, and the tool that it needs. A contest that lacks one fails
// the test.
var starterFiles = map[string]struct{ file, tool string }{
	"python": {"bot.py", "python3"}, "cpp": {"bot.cpp", "c++"}, "go": {"bot.go", "go"}, "java": {"Bot.java", "javac"},
}

// starter is the path of a starter.
func starter(game, language string) string {
	file := filepath.Join("..", "submit", "starters", game, language, starterFiles[language].file)
	return envtest.Must(filepath.Abs(file))
}

// starters are the paths of the starters of a contest in some languages, without Java where that cannot be compiled.
func starters(t *testing.T, game string, languages ...string) (paths []string) {
	for _, language := range languages {
		_, missing := exec.LookPath(starterFiles[language].tool)
		require.True(t, missing == nil || language == "java")
		if missing == nil {
			paths = append(paths, starter(game, language))
		}
	}
	return paths
}

// hostsStarters plays games of starters, in which nobody makes a fault, and returns their records.
func hostsStarters(t *testing.T, line string, bots ...string) []*record.Record {
	file := filepath.Join(t.TempDir(), "games.jsonl")
	out, _ := hosts(t, line+" --json --record "+file, bots...)
	for _, g := range decoded[match.Report](t, out).Played {
		require.Empty(t, strings.Join(g.Faults, ""))
	}
	return checked(t, file)
}

// TestStarters plays whole games of the starters, in which they change seats, through the contest's own host: all games of
// a seed are the same game, whatever the languages in the seats.
func TestStarters(t *testing.T) {
	for line, seats := range map[string]int{
		"blockbattle --timebank 1m --new-seed pair": 2, "tetrisduel --budget 1m": 2,
		"blocking --first-time 1m --time 1m --games 4": 4,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			list := starters(t, strings.Fields(line)[0], "python", "cpp", "go", "java")
			var recs []*record.Record
			for bots := range slices.Chunk(list, seats) {
				bots = append(slices.Clone(bots), list...)[:seats]
				recs = append(recs, hostsStarters(t, line+" --seed 3", bots...)...)
			}
			require.Len(t, recs, 4)
			require.Greater(t, len(recs[0].Choices), 20, "a game of some length")
			for _, rec := range recs {
				require.Equal(t, recs[0].Choices, rec.Choices, rec.Agents)
			}
		})
	}
}

// TestDropbloxStarters: all starters give the same commands in the same positions: the sources in some turns, and the
// programs that start quickly in more. With the word "left" they play as the agent of this name does.
func TestDropbloxStarters(t *testing.T) {
	programs := []string{"python3 " + starter("dropblox", "python")}
	for _, language := range []string{"cpp", "go"} {
		dir := t.TempDir()
		bot, err := compile.Submission(t.Context(), starter("dropblox", language), dir, contest.Uploads{}, compile.Default)
		require.NoError(t, err)
		programs = append(programs, filepath.Join(dir, filepath.Base(bot.Program.Argv[0])))
	}
	var samples []string
	for _, p := range programs {
		samples = append(samples, p+" left")
	}
	play := func(flags string, bots ...string) *record.Record {
		recs := hostsStarters(t, "dropblox --seed 5 --seconds 600 --history= "+flags, bots...)
		for _, rec := range recs {
			require.Equal(t, recs[0].Choices, rec.Choices, rec.Agents)
		}
		return recs[0]
	}
	play("--turns 2", append(programs, starters(t, "dropblox", "java")...)...)
	require.Greater(t, play("--turns 60", programs[1:]...).Scores[0], 10, "low landings clear rows")
	left, file := play("", samples...), filepath.Join(t.TempDir(), "left.jsonl")
	require.True(t, left.Results != nil && !left.Stopped)
	succeeds(t, "play dropblox -a left --seed 5 --record "+file)
	require.Equal(t, checked(t, file)[0].Choices, left.Choices)

	s := envtest.Start[*rules.State](rules.Game, 1, 7)
	state := introduced(t, dropbloxcontest.JSON(s))
	var said []string
	for _, p := range programs {
		said = append(said, string(envtest.Must(exec.Command("sh", "-c", p+` "$@"`, "sh", state, "60").Output())))
	}
	require.NotEmpty(t, said[0])
	require.Equal(t, slices.Repeat(said[:1], len(said)), said)
}

// introduced returns a state with the faults of the example in the contest's introduction: a comma is
// missing after the block, and two are too many.
func introduced(t *testing.T, state []byte) string {
	before, block, _ := strings.Cut(string(state), `"block": {`)
	block, after, ok := strings.Cut(block, `}, "`)
	require.True(t, ok, string(state))
	return before + `"block": {` + block + `} "` + strings.TrimSuffix(after, "}") + ", ,}"
}

// TestStartersAreSmall: a starter is read in one go, and every contest has all of them and says how to host them.
func TestStartersAreSmall(t *testing.T) {
	most := map[string]int{"dropblox": 130} // its bots read JSON and drop blocks
	for _, game := range []string{"blockbattle", "tetrisduel", "blocking", "dropblox"} {
		readme := read(filepath.Join("..", "submit", "starters", game, "README.md"))
		for language := range starterFiles {
			lines := strings.Split(strings.TrimSuffix(read(starter(game, language)), "\n"), "\n")
			require.LessOrEqual(t, len(lines), max(100, most[game]), "%s in %s", game, language)
			for k, line := range lines {
				require.LessOrEqual(t, len([]rune(line)), 120, "%s in %s, line %d", game, language, k+1)
			}
			require.Contains(t, readme, language+"/"+starterFiles[language].file)
		}
		envtest.Has(t, readme, "agents host "+game, "agents tournament "+game)
	}
}
