package match

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
)

func named(t testing.TB, text string) Player { return of(t, blockbattle.Game, text) }

// of is a player of any game.
func of(t testing.TB, rules *env.Game, text string) Player {
	f := envtest.Must(bots.New(rules, bots.Own(text)))
	return Player{Name: text, New: f}
}

// acts is an agent made of a function.
type acts func(ctx context.Context, s env.State, seat int) (env.Action, error)

func (f acts) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	return f(ctx, s, seat)
}

func duel(a, b env.Agent) Game {
	return Game{Rules: blockbattle.Game, Seed: 3, Names: []string{"a", "b"}, Agents: []env.Agent{a, b}}
}

func TestValuesAreKeptWhereASearchTells(t *testing.T) {
	rec := envtest.Must(Play(context.Background(), duel(search.NewFirst(), search.NewRandom(1))))
	require.Empty(t, rec.Values, "nobody told")
	a := envtest.Must(named(t, "terms6:ply=1").New(1))
	rec = envtest.Must(Play(context.Background(), duel(a, search.NewRandom(1))))
	require.Equal(t, []string{"a", "b"}, rec.Agents)
	require.Len(t, rec.Values, len(rec.Choices))
	for i, v := range rec.Values {
		require.Equal(t, i%2 == 0, v < 0, "choice %d: seat 0 tells, seat 1 does not", i)
	}
}

func TestAgentsSeeHiddenCopiesOnly(t *testing.T) {
	var truth blockbattle.State
	views := 0
	spy := acts(func(_ context.Context, s env.State, seat int) (env.Action, error) {
		mine := s.(*blockbattle.State)
		a := mine.Legal(seat, nil)[0]
		views++
		require.NotSame(t, &truth, mine)
		require.Equal(t, truth.Sides, mine.Sides)
		require.Equal(t, truth.Next, mine.Next)
		require.NotEqual(t, truth.Word, mine.Word, "what comes after the next piece is not for agents")
		mine.Reset(99) // its own copy: nobody else may notice
		return a, nil
	})
	g := duel(spy, spy)
	s := envtest.Start[env.State](blockbattle.Game, 2, g.Seed)
	truth = *s.(*blockbattle.State)
	g.Watch = func(s env.State, m env.Moves) error {
		require.Equal(t, &truth, s.(*blockbattle.State), "the position moved on its own")
		if m != env.NoMoves {
			next := truth
			next.Step(m)
			truth = next
		}
		return nil
	}
	rec := envtest.Must(Play(context.Background(), g))
	require.Equal(t, len(rec.Choices), views)
}

func TestBadAgentsAreNamed(t *testing.T) {
	plays := func(a env.Action, err error) acts {
		return func(context.Context, env.State, int) (env.Action, error) { return a, err }
	}
	for name, c := range map[string]struct {
		agent env.Agent
		want  string
	}{
		"illegal":      {plays(blockbattle.SkipAction, nil), "blockbattle: seat 2 (b): step 0: illegal action: skip"},
		"out of range": {plays(40000, nil), "illegal action: 40000, of 1601 actions"},
		"failing":      {plays(0, errors.New("no idea")), "blockbattle: seat 2 (b): step 0: no idea"},
	} {
		rec, err := Play(context.Background(), duel(search.NewFirst(), c.agent))
		require.ErrorContains(t, err, c.want, name)
		require.True(t, rec.Stopped)
		require.Empty(t, rec.Choices)
		require.NoError(t, record.Check(blockbattle.Game, rec))
	}
	_, err := Play(context.Background(), duel(search.NewFirst(), plays(env.None, nil)))
	require.NoError(t, err, "no answer is an answer")
	three := duel(search.NewFirst(), search.NewFirst())
	three.Agents = append(three.Agents, search.NewFirst())
	require.ErrorContains(t, envtest.Failed(Play(context.Background(), three)), "blockbattle: 3 agents: want 2 to 2")
}

// book records games in a file.
func book(t *testing.T, games []*record.Record) string {
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
		return envtest.Must(m.Play(t.Context()))
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
		require.ErrorContains(t, envtest.Failed(ReadBook(t.Context(), c.path, c.rules, 2, c.share)), c.says, name)
	}
	require.NoError(t, os.Truncate(path, 100))
	require.ErrorIs(t, envtest.Failed(ReadBook(t.Context(), path, blockbattle.Game, 2, 0.5)), record.ErrPartial)
}

// Whatever is played in a position, and whether or not garbage falls, the next piece is the same; another seed or
// another step has others. Garbage has the same holes, whoever sends it.
func TestDrawsShareThePieces(t *testing.T) {
	g := blockbattle.Game
	from, s := g.New(2).(*blockbattle.State), g.New(2)
	for i := range from.Sides { // a row that lacks one cell, and points that a cleared row makes garbage of
		d := &from.Sides[i]
		for x := 1; x < blockbattle.Width; x++ {
			d.Cells.Set(x, blockbattle.Height-1)
		}
		d.Points, d.Combo = 2, 1
	}
	from.Round, from.Piece = 2, 0
	require.NoError(t, from.Check())
	d, pieces, holes := Draws{}, map[uint8]bool{}, map[uint16]bool{}
	for step := range 30 {
		d.Seed = uint64(step / 10)
		lengths := map[int]bool{}
		for _, a := range from.Legal(0, nil) {
			for seat := range 2 {
				s.CopyFrom(from)
				m := env.Moves{env.Action(0), env.Action(0), env.None, env.None}
				m[1-seat], m[seat] = from.Legal(1, nil)[8], a
				d.Step(g, s, m, step)
				draws := s.Draws(nil)
				lengths[len(draws)] = true
				require.Equal(t, uint8(d.Last(step)%blockbattle.Pieces), s.(*blockbattle.State).Next)
				if len(draws) > 1 {
					holes[uint16(step)<<8|draws[0]] = true
				}
			}
		}
		require.Contains(t, lengths, 1)
		require.Greater(t, len(lengths), 1, "no action sends garbage")
		pieces[s.(*blockbattle.State).Next] = true
	}
	require.Len(t, pieces, blockbattle.Pieces)
	require.Len(t, holes, 30)
}
