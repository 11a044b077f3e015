package playback

import (
	"slices"
	"strings"

	"blockyard/env"
)

const settled = 8 // the ink of cells whose piece a game does not remember

// A Paint tracks the colours of settled cells, which the rules forget, through the positions of one game: it matches
// the rows of a board with the next ones by their contents. Rows pushed in from below have no colour.
type Paint struct {
	boards []grid
	frame  env.Frame // scratch
}

// A grid is the inks of one board, 0 for an empty cell.
type grid struct {
	w, h  int
	ink   []uint8
	bare  []uint8 // ink before the last actions were marked
	piece uint8   // ink of the piece last in play
}

func (p *Paint) clone() Paint {
	out := Paint{boards: slices.Clone(p.boards)}
	for k := range out.boards {
		out.boards[k].ink, out.boards[k].bare = slices.Clone(out.boards[k].ink), slices.Clone(out.boards[k].bare)
	}
	return out
}

// Place adds the cells that the moves m fill in position s.
func (p *Paint) Place(s env.State, m env.Moves) {
	marker, ok := s.(env.Marker)
	if !ok {
		return
	}
	p.show(s)
	for k := range p.frame.Boards {
		b, g := &p.frame.Boards[k], &p.boards[k]
		b.Unghost()
		copy(g.bare, g.ink)
		for _, c := range b.Cells {
			if c.Kind == env.CellPiece {
				g.piece = c.Ink
			}
		}
	}
	each(s, m, func(seat int, a env.Action) { marker.Mark(&p.frame, seat, a) })
	for k := range p.frame.Boards {
		for i, c := range p.frame.Boards[k].Cells {
			if c.Kind == env.CellGhost {
				p.boards[k].ink[i], p.boards[k].piece = c.Ink, c.Ink
			}
		}
	}
}

// Settle updates the boards to s, the position after the moves.
func (p *Paint) Settle(s env.State) {
	if _, ok := s.(env.Marker); !ok {
		return
	}
	p.show(s)
	for k := range p.frame.Boards {
		p.boards[k].follow(&p.frame.Boards[k])
	}
}

// Colour paints the settled cells of f in their colours.
func (p *Paint) Colour(f *env.Frame) {
	if len(p.boards) != len(f.Boards) {
		return
	}
	for k := range f.Boards {
		b, g := &f.Boards[k], &p.boards[k]
		for c := range b.Cells {
			if b.Cells[c].Ink == settled && c < len(g.ink) && g.ink[c] != 0 {
				b.Cells[c].Ink = g.ink[c]
			}
		}
	}
}

// show paints s into the scratch frame. If its boards are not those of the grids, it drops all colours.
func (p *Paint) show(s env.State) {
	f := &p.frame
	f.Reset()
	s.Show(f)
	same := func(g grid, b env.Board) bool { return g.w == b.W && g.h == b.H }
	if slices.EqualFunc(p.boards, f.Boards, same) {
		return
	}
	p.boards = nil
	for k := range f.Boards {
		b := &f.Boards[k]
		g := grid{w: b.W, h: b.H, ink: make([]uint8, b.W*b.H), bare: make([]uint8, b.W*b.H)}
		for i, c := range b.Cells {
			if c.Ink == settled {
				g.ink[i] = c.Ink
			}
		}
		p.boards = append(p.boards, g)
	}
}

// follow updates g to the next board. Pieces landed as marked or, if that explains b better, did not.
func (g *grid) follow(b *env.Board) {
	is := Rows(g.w, g.h, func(k int) byte {
		switch c := b.Cells[k]; {
		case c.Ink == settled:
			return 'x'
		case c.Kind == env.CellPiece:
			return '?' // a piece in play hides the cell
		}
		return '.'
	})
	ink, bare := g.carry(g.ink, is, false)
	if bare > 0 {
		if other, left := g.carry(g.bare, is, true); left < bare {
			ink = other
		}
	}
	g.ink = ink
}

// carry copies colours from the old rows that Align finds, with grown also from those with fewer cells, without the
// piece. plain counts the cells that get no colour.
func (g *grid) carry(from []uint8, is []string, grown bool) (ink []uint8, plain int) {
	was := Rows(g.w, g.h, func(k int) byte {
		if from[k] != 0 {
			return 'x'
		}
		return '.'
	})
	pairs := Align(was, is)
	if grown {
		grow(was, is, pairs)
	}
	ink = make([]uint8, len(from))
	for y, z := range pairs {
		for x := range g.w {
			c := y*g.w + x
			if z >= 0 && is[y][x] != '.' {
				ink[c] = from[z*g.w+x]
			}
			if is[y][x] == 'x' && ink[c] == 0 {
				if ink[c] = settled; z >= 0 && g.piece != 0 {
					ink[c] = g.piece
				} else {
					plain++
				}
			}
		}
	}
	return ink, plain
}

// grow matches a row without a match with the old row as far from the next match, if cells were only added.
func grow(was, is []string, pairs []int) {
	next := len(was) // the old row that matches the row below
	for y := len(is) - 1; y >= 0; y-- {
		if pairs[y] < 0 && next > 0 && more(was[next-1], is[y]) && !slices.Contains(pairs, next-1) {
			pairs[y] = next - 1
		}
		if pairs[y] >= 0 {
			next = pairs[y]
		}
	}
}

// more reports whether every filled cell of the old row is still filled.
func more(was, is string) bool {
	for x := range len(is) {
		if was[x] == 'x' && is[x] == '.' {
			return false
		}
	}
	return true
}

// fits reports whether a row equals an old row; '?' equals both a filled and an empty cell.
func fits(was, is string) bool {
	for x := range len(is) {
		if is[x] != was[x] && is[x] != '?' {
			return false
		}
	}
	return true
}

// Rows returns the rows of a board of w by h cells for Align; cell is what a row has for cell k, row by row.
func Rows(w, h int, cell func(k int) byte) []string {
	out := make([]string, h)
	for y := range out {
		row := make([]byte, w)
		for x := range row {
			row[x] = cell(y*w + x)
		}
		out[y] = string(row)
	}
	return out
}

// Align returns the row of was that each row of is matches, or -1. 'x' is a filled cell, '.' an empty one, '?' in is
// either. Matches keep their order, are equal, and have as many filled cells as possible.
func Align(was, is []string) []int {
	out := make([]int, len(is))
	if slices.EqualFunc(was, is, fits) {
		for y := range out {
			out[y] = y
		}
		return out
	}
	const stay = 1 << 8 // more than there are rows
	n := len(was)
	best := make([]int, (len(is)+1)*(n+1)) // of is[y:] among was[z:]
	at := func(y, z int) *int { return &best[y*(n+1)+z] }
	pair := func(y, z int) int { // the value if y matches z; -1 if it cannot
		if !fits(was[z], is[y]) {
			return -1
		}
		value := stay * (1 + 4*strings.Count(is[y], "x"))
		if y == z {
			value++ // breaks ties in favour of rows that did not move
		}
		return value + *at(y+1, z+1)
	}
	for y := len(is) - 1; y >= 0; y-- {
		for z := n - 1; z >= 0; z-- {
			*at(y, z) = max(*at(y+1, z), *at(y, z+1), pair(y, z))
		}
	}
	for y := range out {
		out[y] = -1
	}
	for y, z := 0, 0; y < len(is) && z < n; {
		switch *at(y, z) {
		case pair(y, z):
			out[y] = z
			y, z = y+1, z+1
		case *at(y, z+1):
			z++
		default:
			y++
		}
	}
	return out
}
