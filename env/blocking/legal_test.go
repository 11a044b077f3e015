package blocking

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
)

// slowLegal is rules §4.3 read cell by cell: every code of every letter on every cell.
func slowLegal(s *State, seat int) []env.Action {
	t := s.Table()
	const free, off = -1, -2
	var owners [Size + 2][Size + 2]int // with the edge
	for y := range owners {
		for x := range owners[y] {
			owners[y][x] = free
			if x == 0 || y == 0 || x > Size || y > Size {
				owners[y][x] = off
				continue
			}
			for i := range s.Cells {
				if s.Cells[i].Has(x-1, y-1) {
					owners[y][x] = i
				}
			}
		}
	}
	touches := func(x, y int, near [4][2]int) bool {
		for _, d := range near {
			if owners[y+1+d[1]][x+1+d[0]] == seat {
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
			if !anchor(ax, ay) {
				continue
			}
			for n := range t.Shapes[l].Squares {
				fits := true
				for k := 0; fits && k < len(t.Shapes[l].Squares); k++ {
					c := t.Shapes[l].Squares[k]
					x, y := int(c.X-t.Shapes[l].Squares[n].X), int(c.Y-t.Shapes[l].Squares[n].Y)
					if f == 1 {
						x, y = y, x
					}
					for range r {
						x, y = -y, x
					}
					x, y = x+ax, y+ay
					fits = x >= 0 && y >= 0 && x < Size && y < Size && owners[y+1][x+1] == free && !touches(x, y, sides)
				}
				if fits {
					out = append(out, t.Action(Code{X: ax, Y: ay, L: l, F: f, R: r, N: n + 1}))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// play steps random games of a table until it has called each for so many positions before a choice: 100,000 at least
// if BLOCKYARD_LONG is set.
func play(t *testing.T, table uint8, positions int, each func(s *State, seat int, legal []env.Action)) {
	t.Helper()
	positions = envtest.Many(positions, 100_000)
	rng := rand.New(rand.NewPCG(7, uint64(table)))
	n := 0
	for g := 0; n < positions; g++ {
		s := New(2+g%3, table)
		s.Reset(uint64(g))
		for ; s.Acting() != 0; n++ {
			seat := s.Acting().First()
			legal := s.Legal(seat, nil)
			each(s, seat, legal)
			s.Step(env.Alone(seat, legal[rng.IntN(len(legal))]))
			require.NoError(t, s.Check())
		}
	}
	t.Logf("%d positions", n)
}

// eightfold is a table of pieces that all have eight forms and five squares, which makes 840 fits. It has no piece of
// one square.
func eightfold(t *testing.T) (id uint8) {
	var shapes [Letters]Shape
	for l := range shapes {
		shapes[l] = DefaultTable.Shapes["KLMOT"[l%5]-'A']
	}
	table := NewTable(shapes)
	require.Len(t, table.blocks, 2)
	id, err := Use(table)
	require.NoError(t, err)
	return id
}

func TestLegalAgreesWithAFullScan(t *testing.T) {
	for name, table := range map[string]uint8{"default": 0, "eightfold": eightfold(t)} {
		t.Run(name, func(t *testing.T) {
			play(t, table, 400, func(s *State, seat int, legal []env.Action) {
				require.Equal(t, slowLegal(s, seat), legal)
				other := (seat + 1) % int(s.Seats)
				require.Equal(t, len(slowLegal(s, other)) > 0, s.CanPlace(other), "seat %d", other)
			})
		})
	}
}

// What needs a scan and what the smallest piece tells agree.
func TestCanPlaceWithoutTheSmallestPiece(t *testing.T) {
	can := map[bool]int{}
	play(t, 0, 2000, func(s *State, _ int, _ []env.Action) {
		for seat := range int(s.Seats) {
			c := s.copied()
			c.Left[seat] &^= 1
			c.Turn = uint8(seat)
			want := len(c.Legal(seat, nil)) > 0
			require.Equal(t, want, c.CanPlace(seat), "seat %d", seat)
			can[want]++
		}
	})
	require.Greater(t, can[true], 100)
	require.Greater(t, can[false], 100)
}

// TestOpenAgreesWithAFullScan finds the allowed and the well-connected cells one by one (rules §4.2).
func TestOpenAgreesWithAFullScan(t *testing.T) {
	play(t, 0, 1000, func(s *State, _ int, _ []env.Action) {
		for seat := range int(s.Seats) {
			var allowed, connected Board
			own := &s.Cells[seat]
			has := func(x, y int) bool { return x >= 0 && y >= 0 && x < Size && y < Size && own.Has(x, y) }
			for at := range Size * Size {
				x, y := at%Size, at/Size
				taken := has(x-1, y) || has(x+1, y) || has(x, y-1) || has(x, y+1)
				for i := range s.Cells {
					taken = taken || s.Cells[i].Has(x, y)
				}
				if taken {
					continue
				}
				allowed.Set(x, y)
				corner := has(x-1, y-1) || has(x+1, y-1) || has(x-1, y+1) || has(x+1, y+1)
				if corner || own.Empty() && [2]int{x, y} == starts[seat] {
					connected.Set(x, y)
				}
			}
			a, c := s.Open(seat)
			require.Equal(t, allowed, a, "seat %d", seat)
			require.Equal(t, connected, c, "seat %d", seat)
		}
	})
}

// A Survey is what the placements one by one are.
func TestSurveyAgreesWithPlacements(t *testing.T) {
	survey := func(s *State, seat int, legal []env.Action) {
		want := Survey{Places: len(legal)}
		for _, a := range legal {
			o, x, y := s.Table().Placement(a)
			want.Letters |= 1 << o.Letter
			for _, cell := range o.Cells {
				want.Cover.Set(x+int(cell.X), y+int(cell.Y))
			}
		}
		allowed, connected := s.Open(seat)
		require.Equal(t, want, s.Table().Survey(&allowed, &connected, s.May(seat)))
	}
	play(t, 0, 2000, survey)
	play(t, eightfold(t), 2000, survey)
}

// The list holds every placement once, and its codes lead back to the ids.
func TestListHoldsEveryPlacementOnce(t *testing.T) {
	play(t, 0, 200, func(s *State, seat int, legal []env.Action) {
		var got []env.Action
		for _, c := range s.List(seat) {
			if !s.Anchored(seat, c) {
				require.Fail(t, "not anchored", "%s", c)
			}
			got = append(got, s.Table().Action(c))
			require.Equal(t, c.String(), s.Answer(seat, s.Table().Action(c)))
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
