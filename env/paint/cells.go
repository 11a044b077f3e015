package paint

import (
	"slices"
	"strings"

	"blockyard/env"
)

// Measures within a cell, whose side has unit parts.
const (
	unit  = 48
	gap   = 1  // between the edge of a cell and what is drawn in it
	round = 8  // radius of the corners of a block
	flat  = 6  // and of an empty cell
	light = 4  // where the line begins that marks a piece in play, and how wide it is
	seam  = 14 // how far within a cell the light square of a seat lies
)

// A shape is a rectangle with round corners in a cell. On joined sides (above, right, below, left) it has no margin.
type shape struct {
	margin, radius int
	colour         string
	lit            bool // whether it is brighter at the top of the cell and darker at its foot
	joined         [4]bool
}

// side returns how far from the edge of the cell a shape begins, and corner the radius where two sides meet.
func (s *shape) side(k int) int {
	if s.joined[k] {
		return 0
	}
	return s.margin
}

func (s *shape) corner(a, b int) int {
	if s.joined[a] || s.joined[b] {
		return 0
	}
	return s.radius
}

// at returns the colour of a shape from 0, the top of the cell, to 1, its foot.
func (s *shape) at(down float64) string {
	switch {
	case !s.lit:
		return s.colour
	case down < .5:
		return Mix(s.colour, "#ffffff", .2-.4*down)
	}
	return Mix(s.colour, "#000000", .2*down-.1)
}

// empty is what every cell has below its own shapes.
func (t *Theme) empty() shape { return shape{margin: gap, radius: flat, colour: t.Ink[0]} }

// cell returns the shapes of the cell in column x, row y of b, one over the other. The cells of a ghost are joined, and
// those of a seat.
func (t *Theme) cell(b *env.Board, x, y int, bySeat bool) []shape {
	c := b.Cells[y*b.W+x]
	colour := t.Ink[c.Ink&15]
	if bySeat && 1 <= c.Ink && int(c.Ink) <= len(t.Seat) {
		colour = t.Seat[c.Ink-1]
	}
	var joined [4]bool
	for k, to := range [4][2]int{{0, -1}, {1, 0}, {0, 1}, {-1, 0}} {
		u, v := x+to[0], y+to[1]
		joined[k] = u >= 0 && u < b.W && v >= 0 && v < b.H && b.Cells[v*b.W+u].Glyph() == c.Glyph()
	}
	ground := t.empty()
	switch free := c.Kind == env.CellEmpty || c.Kind == env.CellZone; {
	case free && c.Ink != 0:
		ground.colour = Mix(ground.colour, colour, .16)
		return []shape{ground}
	case c.Kind == env.CellEmpty:
		return nil
	case c.Kind == env.CellGhost:
		inner := shape{margin: light, colour: Mix(ground.colour, colour, .3), joined: joined}
		return []shape{{colour: colour, joined: joined}, inner}
	case c.Ink == 0:
		ground.colour = Mix(ground.colour, t.Shade, .55)
		return []shape{ground}
	case bySeat:
		whole := shape{margin: gap, radius: round, colour: colour, joined: joined}
		return []shape{whole, {margin: seam, radius: flat, colour: Mix(colour, "#ffffff", .2)}}
	}
	block := shape{margin: gap, radius: round, colour: colour, lit: true}
	if c.Kind != env.CellPiece {
		return []shape{block}
	}
	rim := shape{margin: light, radius: flat, colour: Mix(colour, "#ffffff", .8)}
	return []shape{block, rim, {margin: 2 * light, radius: light, colour: colour, lit: true}}
}

// Arrange returns the boards of a frame from left to right, and the pieces beside them: boards named "next…" after the
// first are a tray too. bySeat reports whether inks stand for seats.
func Arrange(f *env.Frame) (boards []*env.Board, trays []env.Tray, bySeat bool) {
	next := env.Tray{Name: "next", Seat: env.Everybody}
	for k := range f.Boards {
		b := &f.Boards[k]
		if k == 0 || !strings.HasPrefix(b.Name, "next") {
			boards = append(boards, b)
			continue
		}
		var taken []int
		for k, c := range b.Cells {
			if c.Ink != 0 {
				taken = append(taken, k)
			}
		}
		if len(taken) > 0 {
			next.Add(b.Cells[taken[0]], len(taken), func(k int) (x, y int) { return taken[k] % b.W, taken[k] / b.W })
		}
	}
	if len(next.Pieces) > 0 {
		trays = append(trays, next)
	}
	trays = append(trays, f.Trays...)
	all := slices.Clone(boards)
	for _, t := range trays {
		for k := range t.Pieces {
			all = append(all, &t.Pieces[k])
		}
	}
	return boards, trays, slices.ContainsFunc(all, func(b *env.Board) bool {
		return slices.ContainsFunc(b.Cells, func(c env.Cell) bool { return c.Kind == env.CellSeat })
	})
}

// borders returns the rows above which a zone begins: the marks of free cells change there, and one of them is a tint.
func borders(b *env.Board) (rows []int) {
	var above *env.Cell
	for y := range b.H {
		zone := above
		for k := y * b.W; k < (y+1)*b.W; k++ {
			if c := &b.Cells[k]; c.Kind == env.CellEmpty || c.Kind == env.CellZone {
				zone = c
			}
		}
		if above != nil && *zone != *above && zone.Ink+above.Ink != 0 {
			rows = append(rows, y)
		}
		above = zone
	}
	return rows
}
