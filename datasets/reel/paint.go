package reel

import (
	"slices"

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
	w, h int
	ink  []uint8
}

func (p *paint) clone() paint {
	out := paint{boards: slices.Clone(p.boards)}
	for k := range out.boards {
		out.boards[k].ink = slices.Clone(out.boards[k].ink)
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
		p.frame.Boards[k].Unghost()
	}
	each(s, m, func(seat int, a env.Action) { marker.Mark(&p.frame, seat, a) })
	for k := range p.frame.Boards {
		b := &p.frame.Boards[k]
		for c, glyph := range b.Cells {
			if isGhost(glyph) {
				p.boards[k].ink[c] = b.Ink[c]
			}
		}
	}
}

func isGhost(glyph byte) bool { return glyph >= 'a' && glyph <= 'z' && glyph != 'x' }

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
			if b.Ink[c] == settled && c < len(g.ink) && g.ink[c] != 0 {
				b.Ink[c] = g.ink[c]
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
		g := grid{b.W, b.H, make([]uint8, b.W*b.H)}
		for c, ink := range b.Ink {
			if ink == settled {
				g.ink[c] = ink
			}
		}
		p.boards = append(p.boards, g)
	}
}

// follow makes g the colours of b: of the ways to find rows of b among those of g, in
// order, it takes one that keeps the most cells.
func (g *grid) follow(b *env.Board) {
	was, is := make([]string, g.h), make([]string, g.h)
	for y := range g.h {
		row, now := make([]byte, g.w), make([]byte, g.w)
		for x := range g.w {
			row[x], now[x] = '.', '.'
			if g.ink[y*g.w+x] != 0 {
				row[x] = 'x'
			}
			switch glyph := b.Cells[y*g.w+x]; {
			case b.Ink[y*g.w+x] == settled:
				now[x] = 'x'
			case glyph >= 'A' && glyph <= 'Z':
				now[x] = '?' // a piece in play hides the cell
			}
		}
		was[y], is[y] = string(row), string(now)
	}
	ink := make([]uint8, len(g.ink))
	for y, from := range align(was, is) {
		for x := range g.w {
			c := y*g.w + x
			if is[y][x] == 'x' {
				ink[c] = settled
			}
			if from >= 0 && is[y][x] != '.' {
				ink[c] = g.ink[from*g.w+x]
			}
		}
	}
	g.ink = ink
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
	n := len(was)
	best := make([]int32, (len(is)+1)*(n+1)) // of is[y:] among was[z:]
	at := func(y, z int) *int32 { return &best[y*(n+1)+z] }
	for y := len(is) - 1; y >= 0; y-- {
		weight := int32(1)
		for _, c := range is[y] {
			if c == 'x' {
				weight += 4
			}
		}
		for z := n - 1; z >= 0; z-- {
			*at(y, z) = max(*at(y+1, z), *at(y, z+1))
			if fits(was[z], is[y]) {
				*at(y, z) = max(*at(y, z), weight+*at(y+1, z+1))
			}
		}
	}
	for y, z := 0, 0; y < len(is); y++ {
		out[y] = -1
		for z < n && *at(y, z) == *at(y, z+1) {
			z++
		}
		if z < n && fits(was[z], is[y]) && *at(y, z) != *at(y+1, z) {
			out[y] = z
			z++
		}
	}
	return out
}
