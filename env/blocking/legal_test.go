package blocking

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
)

// A grid is who has each cell, from (1, 1) on: a seat, or nobody, or off for the edge around the board.
type grid [Size + 2][Size + 2]int

const nobody, off = -1, -2

var (
	sides     = [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}
	diagonals = [4][2]int{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}}
)

func gridOf(s *State) (g grid) {
	for at := range (Size + 2) * (Size + 2) {
		x, y := at%(Size+2), at/(Size+2)
		g[y][x] = nobody
		if x == 0 || y == 0 || x > Size || y > Size {
			g[y][x] = off
			continue
		}
		for i := range s.Cells {
			if s.Cells[i].Has(x-1, y-1) {
				g[y][x] = i
			}
		}
	}
	return g
}

func (g *grid) touches(seat, x, y int, near [4][2]int) bool {
	return slices.ContainsFunc(near[:], func(d [2]int) bool { return g[y+1+d[1]][x+1+d[0]] == seat })
}

// allowed and connected are rules §4.2 for one cell, which connected takes to be allowed.
func (g *grid) allowed(seat, x, y int) bool {
	return x >= 0 && y >= 0 && x < Size && y < Size && g[y+1][x+1] == nobody && !g.touches(seat, x, y, sides)
}

func (g *grid) connected(s *State, seat, x, y int) bool {
	if s.Cells[seat].Empty() {
		return [2]int{x, y} == [...][2]int{{0, 0}, {12, 12}, {0, 12}, {12, 0}}[seat]
	}
	return g.touches(seat, x, y, diagonals)
}

// slowLegal is rules §4.3 read cell by cell: every code of every letter on every cell.
func slowLegal(s *State, seat int) (out []env.Action) {
	t, g := s.Table(), gridOf(s)
	for l := range Letters {
		if s.Left[seat]>>l&1 == 0 || s.Seats == 3 && seat < 2 && s.Cells[seat].Empty() && l > 3 {
			continue
		}
		squares := t.Shapes[l].Squares
		for code := range 2 * 4 * Size * Size {
			f, r, ax, ay := code&1, code>>1&3, code>>3%Size, code>>3/Size
			if !g.connected(s, seat, ax, ay) {
				continue
			}
			for n, anchor := range squares {
				blocked := func(c Cell) bool {
					x, y := int(c.X-anchor.X), int(c.Y-anchor.Y)
					if f == 1 {
						x, y = y, x
					}
					for range r {
						x, y = -y, x
					}
					return !g.allowed(seat, x+ax, y+ay)
				}
				if !slices.ContainsFunc(squares, blocked) {
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
func eightfold(t *testing.T) uint8 {
	var shapes [Letters]Shape
	for l := range shapes {
		shapes[l] = DefaultTable.Shapes["KLMOT"[l%5]-'A']
	}
	table := NewTable(shapes)
	require.Len(t, table.blocks, 2)
	return envtest.Must(Use(table))
}

// Placements, and the allowed and well-connected cells of every seat, are those that are found one by one (rules §4.2).
// The tables need a scan, or only a look at the piece of one square, to tell whether a seat can place anything.
func TestLegalAgreesWithAFullScan(t *testing.T) {
	for _, table := range []uint8{0, eightfold(t)} {
		can := map[bool]int{}
		play(t, table, 600, func(s *State, seat int, legal []env.Action) {
			require.Equal(t, slowLegal(s, seat), legal)
			g := gridOf(s)
			for seat := range int(s.Seats) {
				var allowed, connected Board
				for at := range Size * Size {
					x, y := at%Size, at/Size
					if !g.allowed(seat, x, y) {
						continue
					}
					allowed.Set(x, y)
					if g.connected(s, seat, x, y) {
						connected.Set(x, y)
					}
				}
				a, c := s.Open(seat)
				require.Equal(t, []Board{allowed, connected}, []Board{a, c}, "seat %d", seat)
			}
			other := (seat + 1) % int(s.Seats)
			want := len(slowLegal(s, other)) > 0
			require.Equal(t, want, s.CanPlace(other), "seat %d", other)
			can[want]++
		})
		require.Greater(t, min(can[false], can[true]), 20)
	}
}

// A Survey is what the placements one by one are; Placeable are the letters, here of placements without a few cells.
func TestSurveyAgreesWithPlacements(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	survey := func(s *State, seat int, legal []env.Action) {
		want, letters := Survey{Places: len(legal)}, uint32(0)
		var not Board
		for range rng.IntN(12) {
			not.Set(rng.IntN(Size), rng.IntN(Size))
		}
		for _, a := range legal {
			o, x, y := s.Table().Placement(a)
			var cells Board
			for _, cell := range o.Cells {
				cells.Set(x+int(cell.X), y+int(cell.Y))
			}
			want.Letters |= 1 << o.Letter
			want.Of[o.Letter]++
			want.Cover.Or(&cells)
			if cells.And(&not); cells.Empty() {
				letters |= 1 << o.Letter
			}
		}
		allowed, connected := s.Open(seat)
		require.Equal(t, want, s.Table().Survey(&allowed, &connected, s.May(seat)))
		allowed.Without(&not)
		connected.Without(&not)
		require.Equal(t, letters, s.Table().Placeable(&allowed, &connected, s.May(seat)))
	}
	play(t, 0, 2000, survey)
	play(t, eightfold(t), 2000, survey)
}

// The list holds every placement once, and its codes lead back to the ids.
func TestListHoldsEveryPlacementOnce(t *testing.T) {
	play(t, 0, 200, func(s *State, seat int, legal []env.Action) {
		var got []env.Action
		for _, c := range s.List(seat) {
			require.True(t, s.Anchored(seat, c), "%s", c)
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

// slowObserve is the observation as doc.go has it, cell by cell and letter by letter.
func slowObserve(s *State, seat int) (planes []uint8, globals []float32) {
	n := int(s.Seats)
	one := map[bool]float32{true: 1}
	_, connected := s.Open(seat)
	var points, active []float32
	for i := range numPlanes {
		who, set := (seat+i)%n, Board{}
		switch {
		case i == env.MaxSeats:
			set = connected
		case i < n:
			set = s.Cells[who]
		}
		for at := range Size * Size {
			planes = append(planes, uint8(one[set.Has(at%Size, at/Size)]))
		}
		if i == env.MaxSeats {
			break
		}
		for l := range Letters {
			globals = append(globals, one[i < n && s.Left[who]>>l&1 != 0])
		}
		points = append(points, one[i < n]*float32(s.Score(who)))
		active = append(active, one[i < n && s.Reason == Running && !s.Out.Has(who) && !s.Stuck.Has(who)])
	}
	globals = append(append(globals, points...), active...)
	for i := range env.MaxSeats {
		globals = append(globals, one[i == seat])
	}
	for i := 2; i <= 4; i++ {
		globals = append(globals, one[i == n])
	}
	return planes, append(globals, one[s.Acting().Has(seat)])
}

// An observation is written over whatever the slices held, and nothing beside them.
func TestObserveAgreesWithCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	play(t, 0, 1000, func(s *State, seat int, legal []env.Action) {
		next := s.copied()
		a := legal[rng.IntN(len(legal))]
		if rng.IntN(50) == 0 {
			a = env.None
		}
		next.Step(env.Alone(seat, a))
		for seat := range int(s.Seats) {
			p, g := slowObserve(next, seat)
			planes, globals := slices.Repeat([]uint8{9}, len(p)+16), slices.Repeat([]float32{9}, len(g)+4)
			wide, high := slices.Clone(planes), slices.Clone(globals)
			copy(wide[8:], p)
			copy(high[2:], g)
			next.Observe(seat, planes[8:len(planes)-8], globals[2:len(globals)-2])
			require.Equal(t, wide, planes)
			require.Equal(t, high, globals)
		}
	})
}
