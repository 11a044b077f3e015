package match

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/tetrisduel"
)

// book records games in a file.
func book(t *testing.T, games []*record.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.jsonl")
	w, err := record.Create(path)
	require.NoError(t, err)
	for _, rec := range games {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return path
}

// Both games of a pair begin in the same position of the book, with other pieces to come than in the book's game, and
// their records replay.
func TestPairsBeginInABook(t *testing.T) {
	_, games := played(t, t.Context(), Match{Players: []Player{named(t, "random"), named(t, "first")}, Units: 2, Seed: 8})
	b, err := ReadBook(t.Context(), book(t, games), blockbattle.Game, 2, 0.5)
	require.NoError(t, err)
	require.Len(t, b, len(games))
	m := Match{Players: []Player{named(t, "hand:ply=1"), named(t, "random")}, Units: 6, Seed: 9, Workers: 2, Book: b}
	_, kept := played(t, t.Context(), m)
	s, twin := blockbattle.Game.New(2), blockbattle.Game.New(2)
	for k, rec := range kept {
		require.NoError(t, record.Check(blockbattle.Game, rec))
		require.Equal(t, kept[k/2*2].Start, rec.Start, "one position a pair")
		require.NoError(t, env.Decode(s, twin, rec.Start))
		require.NoError(t, env.Decode(twin, blockbattle.Game.New(2), b[k/2%len(b)]))
		f, of := new(env.Frame), new(env.Frame)
		s.Show(f)
		twin.Show(of)
		require.Equal(t, of, f, "what is seen is that of the book")
	}
	require.NotEqual(t, kept[0].Start, kept[8].Start, "what is drawn is the pair's own")
	m.Book = nil
	_, without := played(t, t.Context(), m)
	require.Empty(t, without[0].Start)
}

func TestBooksAreRefused(t *testing.T) {
	_, games := played(t, t.Context(), Match{Players: []Player{named(t, "random"), named(t, "first")}, Units: 1, Seed: 8})
	path := book(t, games)
	for name, c := range map[string]struct {
		path  string
		rules *env.Game
		share float64
		says  string
	}{
		"another game": {path, tetrisduel.Game, 0.5, "game 1: the record is of game blockbattle, want tetrisduel"},
		"the end":      {path, blockbattle.Game, 1, "1 of a game's steps: want 0 or more, and less than 1"},
		"no file":      {filepath.Join(t.TempDir(), "none"), blockbattle.Game, 0.5, "no such file"},
		"no game":      {book(t, nil), blockbattle.Game, 0.5, "no game with a position to begin with"},
	} {
		_, err := ReadBook(t.Context(), c.path, c.rules, 2, c.share)
		require.ErrorContains(t, err, c.says, name)
	}
	require.NoError(t, os.Truncate(path, 100))
	_, err := ReadBook(t.Context(), path, blockbattle.Game, 2, 0.5)
	require.ErrorIs(t, err, record.ErrPartial)
}
