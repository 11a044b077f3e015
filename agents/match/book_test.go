package match

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
)

// book records games in a file.
func book(t *testing.T, games []*record.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.jsonl")
	w := envtest.Must(record.Create(path))
	for _, rec := range games {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return path
}

// Both games of a pair begin in the same position of the book, with other pieces to come than in the book's game, and
// their records replay.
func TestPairsBeginInABook(t *testing.T) {
	_, games := paired(t, Match{Players: []Player{named(t, "random"), named(t, "first")}, Units: 2, Seed: 8})
	b := envtest.Must(ReadBook(t.Context(), book(t, games), blockbattle.Game, 2, 0.5))
	require.Len(t, b, len(games))
	m := Match{Players: []Player{named(t, "hand:ply=1"), named(t, "random")}, Units: 6, Seed: 9, Workers: 2, Book: b}
	_, kept := paired(t, m)
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
	_, without := paired(t, m)
	require.Empty(t, without[0].Start)
}

// Pairs that repeat an earlier one move for move, as between programs that play the same in the same position, are no
// other samples: the interval and the test are those of the games that differ, and the report says how many do not.
func TestRepeatedPairsCountOnce(t *testing.T) {
	player := func(text string) Player { return of(t, blocking.Game, text) }
	s := blocking.Game.New(2) // it draws its letters, and nothing after that
	start := envtest.Must(env.Encode(nil, s))
	m := Match{Rules: blocking.Game, Players: []Player{player("greedy:ply=1"), player("first")}, Units: 10, Seed: 3,
		Book: Book{start}, SPRT: &SPRT{Elo1: 300, Alpha: 0.05, Beta: 0.05}}
	play := func() *Report {
		r := envtest.Must(m.Play(t.Context()))
		return r
	}
	r := play()
	require.Equal(t, []int{2, 18, 1}, []int{r.Games, r.Repeated, r.Meetings[0].Pairs.N()})
	require.Equal(t, []float64{0, 1}, []float64{r.Meetings[0].Score.Low, r.Meetings[0].Score.High})
	require.Equal(t, Undecided, r.Meetings[0].Verdict)
	require.Contains(t, Versus{r}.String(), "18 more games repeat one of them move for move, and do not count\n")
	m.Book = nil
	require.Zero(t, play().Repeated, "letters are drawn")
	m.Book, m.Players[1], m.SPRT = Book{start}, player("random"), nil
	require.Zero(t, play().Repeated, "one of them draws")
}

func TestBooksAreRefused(t *testing.T) {
	_, games := paired(t, Match{Players: []Player{named(t, "random"), named(t, "first")}, Units: 1, Seed: 8})
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
