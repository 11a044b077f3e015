package tournament

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/agents/match/series"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// botOf is an entrant in Python.
func botOf(t *testing.T, text string) *Entrant {
	path := filepath.Join(t.TempDir(), "bot.py")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return &Entrant{Name: "bot", Program: contest.Program{Argv: []string{"python3", "-u", path}, Cage: contest.Trusted}}
}

// answering is a bot of Block Battle that answers with an expression, in which n counts the requests and me is its name.
const answering = "import sys\nn, me = 0, ''\nfor line in sys.stdin:\n    words = line.split()\n" +
	"    if words[1:2] == ['your_bot']: me = words[2]\n    if words[0] == 'action':\n        n += 1\n        print(%s)\n"

// testGame is how test games of Block Battle are played, and against whom.
func testGame(t *testing.T) (series.Lines, contest.Program) {
	rules := bots.Of(blockbattle.Game).Host
	setup := envtest.Must(rules.Open(blockbattle.Game, envtest.Must(rules.Settings(nil))))
	m := series.Lines{Rules: blockbattle.Game, Setup: setup, Strict: true, Losses: rules.Losses}
	return m, botOf(t, fmt.Sprintf(answering, "'drop'")).Program
}

// TestLegalAnswersAreNoNonsense: only what cannot be read is, and a bot takes part if it plays in one of the seats.
func TestLegalAnswersAreNoNonsense(t *testing.T) {
	m, rival := testGame(t)
	for answer, why := range map[string]string{
		"'left,left'": "", "'no_moves'": "", "''": "", "'skip'": "", "'left,banana,drop'": "", "'drop,left'": "",
		"'drop' if me == 'player2' else sys.exit(1)": "",
		"'left' if n == 1 else 'banana'":             "answers nonsense: ",
		"'left;drop'":                                "cannot be read, such as \"left;drop\": unknown token",
		"[][0]":                                      "IndexError: list index out of range",
	} {
		e := botOf(t, fmt.Sprintf(answering, answer))
		require.NoError(t, TestLines(t.Context(), m, rival, e))
		require.Contains(t, e.Refused, why, answer)
		require.Equal(t, why == "", e.Refused == "", "%s: %s", answer, e.Refused)
		require.NotContains(t, e.Refused, "--dialect")
	}
}

// dialectal is a bot of Block Battle that knows one dialect only: what the request begins with, and a word of it.
const dialectal = "import sys\nfor line in sys.stdin:\n    if line.startswith('%s'): sys.exit('what is this?')\n" +
	"    if line.startswith('%s'): print('drop', flush=True)\n"

// TestDialects: the test finds the dialect of a bot that does not say which it speaks, and bots of different dialects
// play each other.
func TestDialects(t *testing.T) {
	m, rival := testGame(t)
	all := []*Entrant{
		botOf(t, fmt.Sprintf(dialectal, "settings time_bank", "action moves")),
		botOf(t, fmt.Sprintf(dialectal, "settings player_names player1", "action move ")),
		botOf(t, fmt.Sprintf(dialectal, "settings timebank", "action moves")),
	}
	for k, e := range all {
		require.NoError(t, TestLines(t.Context(), m, rival, e))
		require.Empty(t, e.Refused)
		require.Equal(t, []string{"", "port", "beta"}[k], e.Dialect)
	}
	m.Player = func(number int) contest.Player { return all[number].Player() }
	for _, seats := range [][]int{{0, 1}, {1, 2}, {2, 0}} {
		g := match.Played{Seed: "1", Seats: seats}
		envtest.Must(m.Play(t.Context(), &g))
		require.Positive(t, g.Tallies[0].Answers)
		require.Equal(t, []int{0, 0}, []int{g.Tallies[0].Remarks, g.Tallies[1].Remarks}, "%v", g.Tallies)
	}
	says := botOf(t, fmt.Sprintf(dialectal, "settings player_names player1", "action move "))
	says.Program.Dialect = "port"
	require.NoError(t, TestLines(t.Context(), m, rival, says))
	require.Empty(t, says.Refused+says.Dialect)
	says.Program.Dialect = "welsh"
	require.NoError(t, TestLines(t.Context(), m, rival, says))
	require.Contains(t, says.Refused, `does not start: dialect "welsh": want classic, port or beta`)
}

// TestTheClockOfTheContest is that of the test, and there is no limit of a turn.
func TestTheClockOfTheContest(t *testing.T) {
	e := botOf(t, "import sys\nprint('left' if float(sys.argv[2]) > 250 else 'no')\n")
	require.NoError(t, TestTurns(t.Context(), 5*time.Minute, e))
	require.Empty(t, e.Refused)
}
