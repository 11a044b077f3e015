package playback

import (
	"slices"
	"strings"

	"blockyard/env"
)

// settled is the ink games show cells in whose piece they do not remember.
const settled = 8

// A paint remembers which colour settled cells came with. Rules keep only whether a cell is
// filled; a person would rather see the pieces. It follows the rows of a board from one
// position to the next by what they hold, whatever the game did with them: rows that were
// completed are gone, rows pushed in from below are new and have no colour.
type paint struct {
	boards []grid
	frame  env.Frame // scratch
}

// A grid is one board: an ink for every cell, 0 for an empty one.
type grid struct {
	w, h  int
	ink   []uint8
	bare  []uint8 // as ink was before the last choices were marked
	piece uint8   // ink of the piece last in play
}

func (p *paint) clone() paint {
	out := paint{boards: slices.Clone(p.boards)}
	for k := range out.boards {
		out.boards[k].ink, out.boards[k].bare = slices.Clone(out.boards[k].ink), slices.Clone(out.boards[k].bare)
	}
	return out
}

// place adds the cells that the joint move m fills in position s.
func (p *paint) place(s env.State, m env.Moves) {
	marker, ok := s.(env.Marker)
	if !ok {
		return
	}
	p.frame.Reset()
	s.Show(&p.frame)
	p.fit(&p.frame)
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

// settle takes over what became of the boards in s, the position after.
func (p *paint) settle(s env.State) {
	if _, ok := s.(env.Marker); !ok {
		return
	}
	p.frame.Reset()
	s.Show(&p.frame)
	p.fit(&p.frame)
	for k := range p.frame.Boards {
		p.boards[k].follow(&p.frame.Boards[k])
	}
}

// colour gives settled cells of f the colour they came with.
func (p *paint) colour(f *env.Frame) {
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

// fit makes the grids those of f's boards; where they are not, it forgets.
func (p *paint) fit(f *env.Frame) {
	same := len(p.boards) == len(f.Boards)
	for k := 0; same && k < len(p.boards); k++ {
		same = p.boards[k].w == f.Boards[k].W && p.boards[k].h == f.Boards[k].H
	}
	if same {
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

// follow makes g the colours of b, which came out of it by the choices marked or, where the
// piece came to lie elsewhere, in spite of them.
func (g *grid) follow(b *env.Board) {
	is := make([]string, g.h)
	for y := range g.h {
		row := make([]byte, g.w)
		for x := range g.w {
			row[x] = '.'
			switch c := b.Cells[y*g.w+x]; {
			case c.Ink == settled:
				row[x] = 'x'
			case c.Kind == env.CellPiece:
				row[x] = '?' // a piece in play hides the cell
			}
		}
		is[y] = string(row)
	}
	ink, bare := g.carry(g.ink, is, false)
	if bare > 0 {
		if other, left := g.carry(g.bare, is, true); left < bare {
			ink = other
		}
	}
	g.ink = ink
}

// carry brings colours over to the rows of is: of the ways to find them among those that
// were, in order, it takes one that keeps the most cells. With grown, a row that is none of
// them but for cells of the piece is also found. plain counts cells left without a colour.
func (g *grid) carry(from []uint8, is []string, grown bool) (ink []uint8, plain int) {
	was := make([]string, g.h)
	for y := range g.h {
		row := make([]byte, g.w)
		for x := range g.w {
			row[x] = '.'
			if from[y*g.w+x] != 0 {
				row[x] = 'x'
			}
		}
		was[y] = string(row)
	}
	pairs := align(was, is)
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

// grow adds pairs for rows that have none: the row as far from the next one with a pair as
// it was before, if cells were only added to it.
func grow(was, is []string, pairs []int) {
	next := len(was) // the row that the row below was
	for y := len(is) - 1; y >= 0; y-- {
		if pairs[y] < 0 && next > 0 && more(was[next-1], is[y]) && !slices.Contains(pairs, next-1) {
			pairs[y] = next - 1
		}
		if pairs[y] >= 0 {
			next = pairs[y]
		}
	}
}

// more reports whether every cell of a row that was filled still is.
func more(was, is string) bool {
	for x := range len(is) {
		if was[x] == 'x' && is[x] == '.' {
			return false
		}
	}
	return true
}

// fits reports whether a row may have been the one it was: '?' is either.
func fits(was, is string) bool {
	for x := range len(is) {
		if is[x] != was[x] && is[x] != '?' {
			return false
		}
	}
	return true
}

// align returns, for every row of is, the row of was it is, or -1: rows stay in order, rows
// that fit match, and together they hold as many filled cells as can be.
func align(was, is []string) []int {
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
	pair := func(y, z int) int { // what the pair makes of them, -1 if it is none
		if !fits(was[z], is[y]) {
			return -1
		}
		value := stay * (1 + 4*strings.Count(is[y], "x"))
		if y == z {
			value++ // of equals, rows that stayed where they were
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
