package playback

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"

	"github.com/stretchr/testify/require"
)

// play records a game of g in which everybody plays at random.
func play(g *env.Game, seats int, seed uint64, most int, draws bool) *record.Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := envtest.Start[env.State](g, seats, seed)
	rec := record.New(g, seed, slices.Repeat([]string{"random"}, seats))
	for n := 0; ; n++ {
		if draws {
			rec.AddDraws(s)
		}
		if s.Acting() == 0 || n == most {
			rec.End(s)
			return rec
		}
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			legal := s.Legal(set.First(), nil)
			m[set.First()] = legal[rng.IntN(len(legal))]
		}
		rec.Add(s.Acting(), m)
		s.Step(m)
	}
}

// Winding back and forth, with draws forced or not, leads to the positions of the replay.
func TestSeek(t *testing.T) {
	for _, g := range append([]*env.Game{toy.Pick, toy.Turns}, games.All...) {
		for _, draws := range []bool{false, true} {
			rec := play(g, g.MaxSeats, 9, 200, draws)
			var want []string
			rp := record.NewReplay(g, rec)
			for s := range rp.All() {
				want = append(want, envtest.Frame(s).String())
			}
			require.NoError(t, rp.Err())
			r := envtest.Must(Whole(t.Context(), g, rec))
			require.NoError(t, r.Err())
			require.Equal(t, len(want), r.Len(), g.Name)
			end := len(want) - 1
			for _, n := range []int{0, 5, 3, end, 1, 70, 69, 500, -4, end / 2} {
				r.Seek(n)
				at := max(0, min(n, end))
				require.Equal(t, at, r.At())
				require.Equal(t, want[at], envtest.Frame(r.State()).String(), "%s: position %d", g.Name, n)
				require.Equal(t, at == end, r.Last())
				require.Equal(t, at == end, r.Moves() == env.NoMoves)
			}
		}
	}
}

// However often Advance is interrupted, it comes to what it comes to at once.
func TestAdvanceInSteps(t *testing.T) {
	for _, g := range games.All {
		rec := play(g, g.MinSeats, 4, 300, false)
		at, once := New(g, rec), New(g, rec)
		require.True(t, once.Advance(time.Time{}))
		calls := 1
		for ; !at.Advance(time.Now().Add(-time.Second)); calls++ {
			require.LessOrEqual(t, at.Len(), 32*calls)
			at.Seek(at.Len() - 1)
			require.True(t, at.Last())
		}
		require.Equal(t, once.Len(), at.Len())
		require.Equal(t, once.Scores(), at.Scores())
		require.Equal(t, once.moves, at.moves)
		for n := 0; n < at.Len(); n += 7 {
			var a, b env.Frame
			at.Seek(n)
			once.Seek(n)
			at.Show(&a)
			once.Show(&b)
			require.Equal(t, a, b)
		}
	}
}

// A record that does not hold is unrolled as far as it does.
func TestErr(t *testing.T) {
	g := toy.Turns
	good := play(g, 3, 2, 100, false)
	for want, spoil := range map[string]func(r *record.Record){
		"scores [":                   func(r *record.Record) { r.Scores[0]++ },
		"results [":                  func(r *record.Record) { r.Results[0] = 0.5 },
		"the game is not over":       func(r *record.Record) { r.Choices = r.Choices[:4] },
		"the record goes on":         func(r *record.Record) { r.Choices = append(r.Choices, 0) },
		"the record says it was sto": func(r *record.Record) { r.Stopped = true },
		"illegal":                    func(r *record.Record) { r.Choices[3] = 99 },
		"version 7 of the rules":     func(r *record.Record) { r.Rules = 7 },
	} {
		rec := *good
		rec.Choices, rec.Scores, rec.Results = slices.Clone(rec.Choices), slices.Clone(rec.Scores), slices.Clone(rec.Results)
		spoil(&rec)
		r := New(g, &rec)
		r.Advance(time.Time{})
		require.ErrorContains(t, r.Err(), want)
		if want == "illegal" {
			require.Equal(t, 4, r.Len(), "up to the position of the wrong choice")
			r.Seek(9)
			require.True(t, r.Last())
		}
	}
}

// Marks become sparse in a long game, and positions stay what they are.
func TestLongGame(t *testing.T) {
	s := Scores{}
	for k := range 5000 {
		s.Note([]int{k, 2 * k})
	}
	require.LessOrEqual(t, len(s.Seats[0]), maxSamples)
	for k := range s.Seats[1] {
		require.Equal(t, 2*k*s.Every, s.Seats[1][k])
	}
	g := toy.Pick
	r := New(g, play(g, 2, 3, 100, false))
	s2 := g.New(2)
	for n := range (maxMarks+10)*firstSpacing + 1 {
		if n%r.spacing == 0 {
			r.keep(s2)
		}
	}
	require.Equal(t, 2*firstSpacing, r.spacing)
	require.LessOrEqual(t, len(r.marks), maxMarks)
}

// Every cell that has settled has the colour of a piece, unless the game pushed it in.
func TestColours(t *testing.T) {
	for _, name := range []string{"tetrisduel", "wintetris:instant", "wintetris", "wintetris:tick"} {
		g := envtest.Must(games.Lookup(name))
		r := envtest.Must(Whole(t.Context(), g, play(g, g.MinSeats, 3, 400, false)))
		seen := map[uint8]int{}
		for n := range r.Len() {
			r.Seek(n)
			var f env.Frame
			r.Show(&f)
			for _, c := range f.Boards[0].Cells {
				if c.Kind == env.CellSettled {
					require.NotEqual(t, uint8(settled), c.Ink, "%s: position %d\n%s", name, n, f.String())
					seen[c.Ink]++
				}
			}
		}
		if g.MaxSeats == 2 {
			require.Len(t, seen, 2, "%s: red and blue, by seat", name)
			continue
		}
		require.Greater(t, len(seen), 4, name)
	}
}

// Marks say beforehand what a choice fills, ghosts alone, in every game that has them.
func TestMarks(t *testing.T) {
	for _, g := range games.All {
		s := g.New(g.MaxSeats)
		marker, ok := s.(env.Marker)
		if !ok {
			continue
		}
		s.Reset(5)
		seat := s.Acting().First()
		for _, a := range s.Legal(seat, nil) {
			f, plain := envtest.Frame(s), envtest.Frame(s)
			marker.Mark(f, seat, a)
			for k := range f.Boards {
				for i, c := range f.Boards[k].Cells {
					if c != plain.Boards[k].Cells[i] {
						require.Equal(t, env.CellGhost, c.Kind, "%s: %s paints %q", g.Name, g.Text(a), c.Glyph())
						require.NotContains(t, []uint8{0, settled}, c.Ink)
					}
				}
			}
		}
	}
}

// The slow way to align rows: try every choice of pairs.
func bestAlign(was, is []string) int {
	if len(is) == 0 || len(was) == 0 {
		return 0
	}
	best := max(bestAlign(was[1:], is), bestAlign(was, is[1:]))
	if fits(was[0], is[0]) {
		best = max(best, 1+4*strings.Count(is[0], "x")+bestAlign(was[1:], is[1:]))
	}
	return best
}

func TestAlign(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		rows := func(of string) (out []string) {
			for range 6 {
				out = append(out, fmt.Sprintf("%c%c", of[rng.IntN(len(of))], of[rng.IntN(len(of))]))
			}
			return out
		}
		was, is := rows(".x"), rows("..xx?")
		got, weight, last := Align(was, is), 0, -1
		for y, z := range got {
			if z >= 0 {
				require.True(t, fits(was[z], is[y]))
				require.Greater(t, z, last)
				last = z
				weight += 1 + 4*strings.Count(is[y], "x")
			}
		}
		require.Equal(t, bestAlign(was, is), weight, "%q %q %v", was, is, got)
	}
}
