package blocking

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// slowLegal is rules §4.3 read cell by cell: every code of every letter on every cell.
func slowLegal(s *State, seat int) []env.Action {
	t := s.Table()
	owner := func(x, y int) int {
		for i := range s.Cells {
			if x >= 0 && y >= 0 && x < Size && y < Size && s.Cells[i].Has(x, y) {
				return i
			}
		}
		return -1
	}
	touches := func(x, y int, near [4][2]int) bool {
		for _, d := range near {
			if owner(x+d[0], y+d[1]) == seat {
				return true
			}
		}
		return false
	}
	sides := [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}
	diagonals := [4][2]int{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}}
	first := s.Cells[seat].Empty()
	anchor := func(x, y int) bool {
		if first {
			return [2]int{x, y} == [...][2]int{{0, 0}, {12, 12}, {0, 12}, {12, 0}}[seat]
		}
		return touches(x, y, diagonals)
	}
	var out []env.Action
	for l := range Letters {
		if s.Left[seat]>>l&1 == 0 || s.Seats == 3 && seat < 2 && first && l > 3 {
			continue
		}
		for code := range 2 * 4 * Size * Size {
			f, r, ax, ay := code&1, code>>1&3, code>>3%Size, code>>3/Size
			for n := range t.Shapes[l].Squares {
				fits, anchored := true, anchor(ax, ay)
				for k, c := range t.Shapes[l].Squares {
					x, y := int(c.X-t.Shapes[l].Squares[n].X), int(c.Y-t.Shapes[l].Squares[n].Y)
					if f == 1 {
						x, y = y, x
					}
					for range r {
						x, y = -y, x
					}
					x, y = x+ax, y+ay
					fits = fits && x >= 0 && y >= 0 && x < Size && y < Size && owner(x, y) < 0 && !touches(x, y, sides)
					_ = k
				}
				if fits && anchored {
					out = append(out, t.Action(Code{X: ax, Y: ay, L: l, F: f, R: r, N: n + 1}))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// play steps random games of a table and calls each before every choice.
func play(t *testing.T, table uint8, games int, each func(s *State, seat int, legal []env.Action)) {
	rng := rand.New(rand.NewPCG(7, uint64(table)))
	for g := range games {
		s := New(2+g%3, table)
		s.Reset(uint64(g))
		for s.Acting() != 0 {
			seat := s.Acting().First()
			legal := s.Legal(seat, nil)
			each(s, seat, legal)
			s.Step(env.Alone(seat, legal[rng.IntN(len(legal))]))
			require.NoError(t, s.Check())
		}
	}
}

func TestLegalAgreesWithAFullScan(t *testing.T) {
	n := 0
	play(t, 0, 9, func(s *State, seat int, legal []env.Action) {
		if n++; n%4 == 0 {
			require.Equal(t, slowLegal(s, seat), legal)
		}
	})
	require.Greater(t, n, 100)
}

// What a Cover gathers is what the placements one by one cover.
func TestCoverAgreesWithPlacements(t *testing.T) {
	play(t, 0, 6, func(s *State, seat int, legal []env.Action) {
		var f Fit
		var c Cover
		var want Board
		allowed, connected := s.Open(seat)
		f.Open(&allowed, &connected)
		for _, a := range legal {
			o, x, y := s.Table().Placement(a)
			for _, cell := range o.Cells {
				want.Set(x+int(cell.X), y+int(cell.Y))
			}
			at := f.Places(o)
			require.True(t, at.Has(x, y))
			c.Add(o, &at)
		}
		require.Equal(t, want, c.Cells())
	})
}

// The list holds every placement once, and its codes lead back to the ids.
func TestListHoldsEveryPlacementOnce(t *testing.T) {
	play(t, 0, 6, func(s *State, seat int, legal []env.Action) {
		var got []env.Action
		for _, c := range s.List(seat) {
			require.True(t, s.Anchored(seat, c))
			got = append(got, s.Table().Action(c))
		}
		slices.Sort(got)
		require.Equal(t, legal, got)
	})
}

func TestDealGivesTheLetters(t *testing.T) {
	for seats := 2; seats <= 4; seats++ {
		for seed := range uint64(50) {
			s := New(seats, 0)
			s.Reset(seed)
			again := New(seats, 0)
			again.Force(Deal(s.Letters))
			again.Reset(seed + 1000)
			require.Equal(t, s.Letters, again.Letters)
		}
	}
}
