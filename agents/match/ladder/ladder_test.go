package ladder

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/wintetris"
)

func ladder(t *testing.T, g *env.Game, units int, specs ...string) *Ladder {
	t.Helper()
	l := &Ladder{Rules: g, Units: units, Seed: 7, Workers: 1}
	for _, spec := range specs {
		f, err := bots.New(g, bots.Own(spec))
		require.NoError(t, err)
		l.Players = append(l.Players, match.Player{Name: spec, New: f})
	}
	return l
}

// play plays the ladder in a folder, until ctx ends, and returns its report.
func play(t *testing.T, ctx context.Context, l *Ladder, dir string) *Report {
	t.Helper()
	j, err := l.Open(dir)
	require.NoError(t, err)
	require.NoError(t, l.Play(ctx, j))
	require.NoError(t, j.Close())
	return l.Report()
}

// Every two players meet equally often, with the seats swapped, and the stronger one is placed higher.
func TestLadder(t *testing.T) {
	l := ladder(t, blocking.Game, 3, "random", "hand:ply=1", "first")
	r := play(t, t.Context(), l, t.TempDir())
	require.Equal(t, 18, r.Games)
	require.Equal(t, 18, r.Expected)
	require.Equal(t, "hand:ply=1", r.Players[0].Name)
	require.Len(t, r.Meetings, 3)
	for _, p := range r.Players {
		require.Equal(t, 12, p.Games)
		require.Equal(t, 12, p.Wins+p.Draws+p.Losses)
		require.Less(t, p.Elo.Low, p.Elo.Value)
	}
	require.Contains(t, r.String(), "blocking, seed 7: 18 games\n")
	var picture bytes.Buffer
	require.NoError(t, r.Draw(&picture))
	require.Equal(t, 3, strings.Count(picture.String(), "<circle "), "a dot for each player")
	require.Less(t, strings.Index(picture.String(), ">hand:ply=1<"), strings.Index(picture.String(), ">random<"))
}

// In a game of one seat, players are compared by their scores with the same seed.
func TestLadderOfOneSeat(t *testing.T) {
	l := ladder(t, wintetris.Game, 4, "random", "hand")
	l.Steps = 30
	r := play(t, t.Context(), l, t.TempDir())
	require.Equal(t, 8, r.Games)
	hand, random := r.Players[0], r.Players[1]
	require.Equal(t, "hand", hand.Name)
	require.Equal(t, []int{4, 4, 0, 0}, []int{hand.Games, hand.Wins, hand.Draws, hand.Losses})
	require.Equal(t, []int{4, 0, 0, 4}, []int{random.Games, random.Wins, random.Draws, random.Losses})
	require.Greater(t, *hand.Points, *random.Points)
	require.Contains(t, r.String(), "mean points")
}

// A ladder that is stopped after any unit, or in the middle of writing one, goes on and ends with the same journal, for
// any number of workers.
func TestLadderGoesOn(t *testing.T) {
	specs := []string{"random", "first", "hand:ply=1"}
	whole := t.TempDir()
	want := play(t, t.Context(), ladder(t, blocking.Game, 3, specs...), whole)
	text, err := os.ReadFile(filepath.Join(whole, JournalFile))
	require.NoError(t, err)

	dir := t.TempDir()
	path := filepath.Join(dir, JournalFile)
	l := ladder(t, blocking.Game, 3, specs...)
	j, err := l.Open(dir)
	require.NoError(t, err)
	_, err = l.Open(dir)
	require.ErrorContains(t, err, "another process plays the ladder in "+dir)
	require.NoError(t, j.Close())
	for parts := 0; ; parts++ {
		l := ladder(t, blocking.Game, 3, specs...)
		l.Workers = 1 // at most one more unit ends after the context; two workers may end any number
		if parts >= 2 {
			l.Workers = 2
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := -1
		l.Progress = func(games int, _ string) {
			if first < 0 {
				first = games
			} else if games > first {
				cancel()
			}
		}
		r := play(t, ctx, l, dir)
		cancel()
		if r.Games == r.Expected {
			require.Equal(t, want, r)
			require.GreaterOrEqual(t, parts, 2)
			break
		}
		require.Contains(t, r.String(), "run the same command again to go on")
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(`{"a":0,"b":`) // as kill -9 leaves it
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))

	longer := play(t, t.Context(), ladder(t, blocking.Game, 4, specs...), dir)
	require.Equal(t, 24, longer.Games)
	shorter := play(t, t.Context(), ladder(t, blocking.Game, 1, specs...), dir)
	require.Equal(t, 24, shorter.Games, "what was played counts")
}

func TestLadderRefuses(t *testing.T) {
	dir := t.TempDir()
	play(t, t.Context(), ladder(t, blocking.Game, 1, "random", "first"), dir)
	for says, l := range map[string]*Ladder{
		"a ladder of 1 players":          ladder(t, blocking.Game, 1, "random"),
		"0 units for every two players":  ladder(t, blocking.Game, 0, "random", "first"),
		"blocking with seed 7 between":   ladder(t, blocking.Game, 1, "first", "random"),
		"name another folder (--out)":    ladder(t, wintetris.Game, 1, "random", "first"),
		"cap and steps are for games of": {Rules: blocking.Game, Players: make([]match.Player, 2), Units: 1, Cap: 3},
	} {
		_, err := l.Open(dir)
		require.ErrorContains(t, err, says)
	}
	path := filepath.Join(dir, JournalFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, _, _ := strings.Cut(string(text), "\n")
	for says, text := range map[string]string{
		"line 1: not the settings":   "rubbish\n",
		"line 2: ":                   head + "\nrubbish\n",
		"line 2: not unit 0 of":      head + "\n{\"a\":1,\"b\":0,\"wins\":2}\n",
		"not unit 0 of the ladder: ": head + "\n{\"a\":0,\"b\":1,\"wins\":3,\"losses\":-1}\n",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ladder(t, blocking.Game, 1, "random", "first").Open(dir)
		require.ErrorContains(t, err, says)
	}
}
