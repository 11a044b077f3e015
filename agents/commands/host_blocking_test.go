package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env/blocking"
	"blockyard/env/games"
)

// listed is a bot in another language: it answers the first placement it is sent.
const listed = `python3 -c '
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

// hostBlocking runs "agents host blocking" with these bots and flags.
func hostBlocking(t *testing.T, bots []string, flags ...string) (int, string, string) {
	t.Helper()
	args := []string{"host", "blocking"}
	for _, b := range bots {
		args = append(args, "--bot", b)
	}
	return command(t.Context(), append(append(args, "--tolerance", "5s"), flags...)...)
}

func TestHostBlocking(t *testing.T) {
	ours := built(t) + " bot blocking --agent hand:ply=1"
	for early, seatings := range map[string][][]string{
		"on": {{ours, listed}, {ours, listed, listed, listed}}, "off": {{ours, listed, listed}},
	} {
		for _, bots := range seatings {
			dir := t.TempDir()
			file := filepath.Join(dir, "games.jsonl.gz")
			status, out, errs := hostBlocking(t, bots, "--early-end", early, "--games", "2", "--json", "--record", file, "--log", dir)
			require.Zero(t, status, errs)
			require.Empty(t, errs)
			got := decoded[match.Report](t, out)
			require.Equal(t, 2, got.Games)
			require.Less(t, got.Players[0].Rank.Value, got.Players[1].Rank.Value)
			for i, b := range got.Players {
				require.Empty(t, b.Faults, "bot %d", i)
				require.Positive(t, b.Program.Answers)
			}
			require.Equal(t, len(bots) == 2, got.Winner != "")
			require.Equal(t, got.Played[0].Seed, got.Played[1].Seed, "equal letters in every seating")
			require.NotEqual(t, got.Played[0].Seats, got.Played[1].Seats)
			require.Len(t, checked(t, file), 2)
			log, err := os.ReadFile(filepath.Join(dir, "game-001.log"))
			require.NoError(t, err)
			for _, want := range []string{
				"player0 < ABCD", "player1 > 12 12 ", "player1 ! I am 1\n", "Turn 2\n", "player0 is " + ours,
			} {
				require.Contains(t, string(log), want)
			}
		}
	}
}

func TestHostBlockingFaults(t *testing.T) {
	status, out, errs := hostBlocking(t, []string{listed, "false", "false"}, "--games", "3")
	require.Zero(t, status, errs)
	require.Contains(t, out, "elimination")
	require.Contains(t, out, "exit 3")
	require.Contains(t, errs, "player0: I am 0")
}

func TestHostBlockingWithOtherShapes(t *testing.T) {
	file := otherShapes(t)
	records := filepath.Join(filepath.Dir(file), "games.jsonl")
	ours := built(t) + " bot blocking:shapes=" + file + " --agent hand:ply=1"
	status, out, errs := hostBlocking(t, []string{ours, listed}, "--games", "2", "--json", "--shapes", file,
		"--record", records, "--early-end", "off")
	require.Zero(t, status, errs)
	require.Regexp(t, `"game":"blocking:shapes=[0-9a-f]{12}"`, out)
	require.NotContains(t, out, `"faults":{`)
	for _, line := range []string{
		"host blocking:shapes=FILE --bot [ours] --bot [ours] --record OUT --tolerance 5s",
		"arena blocking:shapes=FILE --a hand:ply=1 --b learned:ply=1 --games 2 --record OUT",
		"arena blocking:shapes=FILE --a first --b random --seats 3 --games 3 --record OUT",
		"play blocking:shapes=FILE --a learned --b first --seats 4 --record OUT",
	} {
		next := filepath.Join(filepath.Dir(file), "next.jsonl")
		var args []string
		for _, word := range strings.Fields(line) {
			args = append(args, strings.NewReplacer("FILE", file, "OUT", next, "[ours]", ours).Replace(word))
		}
		status, _, errs := command(t.Context(), args...)
		require.Zero(t, status, "%s: %s", line, errs)
		first, err := os.ReadFile(records)
		require.NoError(t, err)
		more, err := os.ReadFile(next)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(records, append(first, more...), 0o600))
		require.NoError(t, os.Remove(next))
	}
	require.Len(t, checked(t, records), 10)

	text, err := os.ReadFile(records)
	require.NoError(t, err)
	require.Equal(t, 10, strings.Count(string(text), `"E 1 4 ####"`), "every record has the shapes")
	spoilt := strings.ReplaceAll(string(text), `"E 1 4 ####"`, `"E 4 1 ####"`)
	in, err := record.NewReader("spoilt", strings.NewReader(spoilt))
	require.NoError(t, err)
	_, err = record.CheckNext(in, games.Recorded)
	require.ErrorIs(t, err, record.ErrDiffers)
	require.ErrorContains(t, err, "one of the two was changed")
}

// otherShapes writes a file of the default shapes with letter E upright, and returns its name.
func otherShapes(t *testing.T) string {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####"
	file := filepath.Join(t.TempDir(), "shapes.txt")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	return file
}

func TestHostBlockingRefuses(t *testing.T) {
	misused(t, "", map[string]string{
		"host blocking --bot a":                                         "1 bots, want --bot twice to four times",
		"host blocking --bot a --bot b --bot c --bot d --bot e":         "5 bots",
		"host blocking --bot a --bot b --games 0":                       "want a number from 1",
		"host blocking --bot a --bot b --time 0s":                       "--time 0s: want a time of at least 1ns",
		"host blocking --bot a --bot b --shapes /no/such":               "/no/such",
		"host blocking --bot a --bot b --shapes host.go":                "host.go: shapes, line 1",
		"host blocking:shapes=/no/such --bot a --bot b":                 "/no/such",
		"arena blocking:shapes=/no/such --a hand --b hand":              "want blocking:shapes=FILE",
		"host blocking --bot a --bot b --seatings none":                 "none",
		"arena blocking --a hand --b hand --seats 3 --games 4":          "want a multiple of 3",
		"arena blocking --a hand --b hand --seats 5 --games 5":          "is for 2 to 4",
		"arena blocking --a hand --b hand --seats 3 --games 3 --sprt 1": "for two seats",
		"arena blocking --a greedy:weights=x --b hand":                  "greedy has no weights",
	})
}
