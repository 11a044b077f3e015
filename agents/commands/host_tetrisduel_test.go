package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
)

const (
	// pythonBot is a bot of the original style that uses every method it is offered.
	pythonBot = "python3 -B ../bots/tetrisduelbot/pybot.py ../bots/tetrisduelbot/testdata/everymethod.py"
	// lister answers the first placement of the list.
	lister = `while read -r w x; do case "$w" in blocks) echo ready;; moves) read -r m; echo "$m";; esac; done`
	// passer gets ready and never names a placement.
	passer = `while read -r w x; do case "$w" in blocks) echo ready;; moves) echo pass;; esac; done`
)

// hostDuel runs "agents host tetrisduel" with these bots and flags.
func hostDuel(t *testing.T, a, b string, flags ...string) (int, string, string) {
	t.Helper()
	return command(t.Context(), append([]string{"host", "tetrisduel", "--bot", a, "--bot", b}, flags...)...)
}

func TestHostPlaysTheDuel(t *testing.T) {
	ours := built(t) + " bot tetrisduel --agent hand:ply=1"
	dir := t.TempDir()
	file := filepath.Join(dir, "duels.jsonl.gz")
	status, out, errs := hostDuel(t, ours, pythonBot, "--pairs", "1", "--json", "--record", file, "--log", dir)
	require.Zero(t, status, errs)
	got := decoded[match.Report](t, out)
	require.Equal(t, 2, got.Games)
	require.Len(t, got.Played, 2)
	require.Equal(t, got.Played[0].Seed, got.Played[1].Seed)
	require.Equal(t, [][]int{{0, 1}, {1, 0}}, [][]int{got.Played[0].Seats, got.Played[1].Seats})
	for _, g := range got.Played {
		require.Contains(t, []string{"limit", "overflow"}, g.Reason)
		require.Greater(t, g.Rounds, 20)
	}
	recs := checked(t, file)
	require.Len(t, recs, 2)
	for _, rec := range recs {
		require.Contains(t, []string{"limit", "overflow"}, rec.Meta["reason"])
	}
	text, err := os.ReadFile(filepath.Join(dir, "game-001.log"))
	require.NoError(t, err)
	require.Regexp(t, `player1 > ready\nplayer1 @ \d+\.\d{3} ms of 10000\.000 ms; wall \d+\.\d{3} ms, CPU `, string(text))
	require.Equal(t, strings.Count(string(text), " > "), strings.Count(string(text), " @ "), "every answer has its time")
	require.Contains(t, string(text), "player2 ! this must not disturb the dialogue\n")
	require.Regexp(t, `player1 < end [012] (limit|overflow) \d+ \d+\n`, string(text))
}

func TestHostDuelFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "duels.jsonl")
	status, out, errs := hostDuel(t, lister, passer, "--games", "3", "--record", file)
	require.Zero(t, status, errs)
	require.Contains(t, out, "100.0 %")
	require.Contains(t, out, "illegal 3\n")
	require.Contains(t, out, "winner of the match: A")
	rec := checked(t, file)[0]
	require.Equal(t, "illegal", rec.Meta["reason"])
	require.Equal(t, []float32{1, -1}, rec.Results)

	_, out, _ = hostDuel(t, "exit 0;", lister, "--games", "2")
	require.Contains(t, out, "missing 2\n")
	_, out, _ = hostDuel(t, lister, "exit 0;", "--games", "1", "--json")
	got := decoded[match.Report](t, out)
	require.Equal(t, "missing", got.Played[0].Reason)
	_, out, _ = hostDuel(t, passer, lister, "--games", "1", "--moves", "off")
	require.Contains(t, out, "illegal 1")
}

func TestHostDuelUsage(t *testing.T) {
	misused(t, "host TetrisDuel-v0 --bot a --bot b ", map[string]string{
		"--games 0":             "--games: want a number from 1",
		"--pairs=-1":            "--pairs -1: want a whole number from 1",
		"--pairs 1 --games 2":   "one flag that says how many",
		"--budget=-1s":          "--budget -1s: want a time of at least",
		"--moves maybe":         "--moves maybe: want on or off",
		"--tie coin":            "--tie coin: want draw or time",
		"--bot third --games 1": "3 bots, want --bot twice",
	})
}
