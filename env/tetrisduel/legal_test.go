package tetrisduel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/falling"
)

// slowPlacements is rules §4 read cell by cell: the judge of Placements.
func slowPlacements(board *falling.Field, kind int, repeat bool) []Placement {
	fits := func(p Placement) bool {
		for _, c := range offsets[kind][p.D] {
			x, y := p.X+int(c.X), p.Y+int(c.Y)
			if x < 0 || x >= Width || y >= Reachable || y >= 0 && board.At(x, y) {
				return false
			}
		}
		return true
	}
	reached := map[Placement]bool{}
	var queue []Placement
	add := func(p Placement) {
		if p.Y < Reachable && fits(p) && !reached[p] {
			reached[p] = true
			queue = append(queue, p)
		}
	}
	for x := range Width {
		for d := range Directions {
			add(Placement{0, x, d})
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		add(Placement{p.Y + 1, p.X, p.D})
		add(Placement{p.Y, p.X - 1, p.D})
		add(Placement{p.Y, p.X + 1, p.D})
		for d := range Directions {
			add(Placement{p.Y, p.X, d})
		}
	}
	var out []Placement
	listed := map[[2]uint64]bool{} // cell sets
	rows := map[Placement]bool{}
	for d := range Directions {
		for p := range reached {
			if p.D != d || fits(Placement{p.Y + 1, p.X, p.D}) {
				continue
			}
			var cells [2]uint64 // 25 rows of 10 cells as 250 bits, in two sums that tell sets apart
			inside := true
			for _, c := range offsets[kind][d] {
				x, y := p.X+int(c.X), p.Y+int(c.Y)
				inside = inside && y >= 0
				if y >= 0 {
					at := y*Width + x
					cells[0] ^= env.Mix(uint64(at + 1))
					cells[1] += env.Mix(uint64(at + 1000))
				}
			}
			if inside && (repeat || !listed[cells]) {
				listed[cells] = true
				rows[p] = true
			}
		}
	}
	for y := Reachable - 1; y >= 0; y-- {
		for x := range Width {
			for d := range Directions {
				if p := (Placement{y, x, d}); rows[p] {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// TestPlacementsAgainstCellByCell compares 1,500 boards and, if BLOCKYARD_LONG is set, 100,000.
func TestPlacementsAgainstCellByCell(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for n := range envtest.Many(1500, 100_000) {
		var board falling.Field
		top, density := r.IntN(Height), r.IntN(10)
		for y := top; y < Height; y++ {
			for x := range Width {
				if r.IntN(10) < density {
					board.Set(x, y)
				}
			}
		}
		kind := r.IntN(Kinds)
		for _, repeat := range []bool{true, false} {
			want := slowPlacements(&board, kind, repeat)
			got := Placements(&board, kind, repeat, nil)
			require.Equal(t, len(want), len(got))
			require.Equal(t, append([]Placement{}, want...), Ordered(got), "block %c", Letters[kind])
		}
		requireMover(t, &board, kind, n&1)
	}
}

// requireMover compares what seat may do on a board in its own frame, as a list and as bits, with Placements.
func requireMover(t *testing.T, board *falling.Field, kind, seat int) {
	s := State{Cells: *board, Turn: int16(1 + seat)}
	if seat == 1 {
		s.Cells = Turned(board)
	}
	for int(permutations[s.Deal[0]][seat]) != kind {
		s.Deal[0]++
	}
	want := Placements(board, kind, false, []env.Action{})
	require.Equal(t, want, s.Legal(seat, []env.Action{}))
	require.Equal(t, len(want) > 0, s.open())
	var bits, mask [(Actions + 63) / 64 * 8]byte
	for _, a := range want {
		bits[a>>3] |= 1 << (a & 7)
	}
	s.MaskLegal(seat, mask[:])
	require.Equal(t, bits, mask)
	if len(want) > 0 && board.Full(Width) == 0 { // as in every position
		requirePlace(t, &s, *board, kind, want[len(want)/2])
	}
}

// requirePlace compares Place with Put and Clear on the board in the mover's frame.
func requirePlace(t *testing.T, s *State, board falling.Field, kind int, a env.Action) {
	seat := s.Mover()
	Put(&board, kind, At(a))
	peace, battle := Clear(&board)
	p, b := s.Place(a)
	require.Equal(t, [2]int{peace, battle}, [2]int{p, b})
	require.Equal(t, board, s.Board(seat))
}

func TestDrawsAreTheRanksOfPackages(t *testing.T) {
	var blocks []uint8
	for i, p := range permutations {
		draws, ok := Draws(p[:])
		require.True(t, ok)
		require.Equal(t, []uint16{uint16(i)}, draws)
		if i%63 == 0 {
			blocks = append(blocks, p[:]...)
		}
	}
	draws, ok := Draws(blocks)
	require.True(t, ok)
	require.Len(t, draws, Packages)
	s := &State{}
	require.Equal(t, Packages, s.Force(draws))
	s.Reset(1)
	for i, b := range blocks {
		require.Equal(t, int(b), s.Block(i+1))
	}
	for _, bad := range [][]uint8{{0, 0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5, 7}, {0, 1, 2, 3, 4, 5, 255}, {0, 1}} {
		_, ok := Draws(bad)
		require.False(t, ok, bad)
	}
}

// A position with rows that are full is none: the rules clear them at once, and know no points for five of them.
func TestCheckRefusesFullRows(t *testing.T) {
	var s State
	s.Reset(1)
	require.NoError(t, s.Check())
	for x := range Width {
		s.Cells[x] |= 0x1f << (Height - 5)
	}
	require.ErrorContains(t, s.Check(), "Cells have the full rows 0x1f00000, want none")
	s.Cells[3] = 0
	require.NoError(t, s.Check())
}

func TestObserveAgainstCells(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	planes, globals := make([]uint8, Game.Planes.Len()), make([]float32, Game.Globals())
	for range 300 {
		s := envtest.Start[*State](Game, 2, r.Uint64())
		s.Cells = falling.Field{}
		for range r.IntN(Width * Height) {
			s.Cells.Set(r.IntN(Width), r.IntN(Height))
		}
		for seat := range 2 {
			for i := range planes {
				planes[i] = 9
			}
			s.Observe(seat, planes, globals)
			for y := range Height {
				for x := range Width {
					want := s.Cells.At(x, y)
					if seat == 1 {
						want = s.Cells.At(Width-1-x, Height-1-y)
					}
					require.Equal(t, want, planes[y*Width+x] == 1, "seat %d x %d y %d", seat, x, y)
					require.LessOrEqual(t, planes[y*Width+x], uint8(1))
				}
			}
		}
	}
}
