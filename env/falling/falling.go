// Package falling holds what falling-block games share: boards as columns of bits, and the
// search for the places that a piece can reach. Board sizes, pieces and spawn points are
// arguments, so that no game depends on the rules of another.
package falling

import "math/bits"

// A Cell is a column and a row in a piece's box, from the top left.
type Cell struct{ X, Y int8 }

// A Piece holds the cells of each orientation in a square box. Orientation 0 is how the piece
// appears; o+1 is o turned right once. Create a Piece with NewPiece.
type Piece struct {
	Turns int       // number of orientations that a search tells apart: 1 or 4
	Size  int       // side of the box
	Cells [4][]Cell // by orientation
	Left  [4]int    // leftmost column of the cells, by orientation
	Low   [4]int    // lowest row of the cells, by orientation
	right [4]int
}

// NewPiece creates a piece from the cells of orientation 0. A piece with one turn has these cells in
// all orientations.
func NewPiece(size, turns int, cells []Cell) Piece {
	p := Piece{Turns: turns, Size: size}
	for o := range p.Cells {
		p.Left[o] = size
		var turned []Cell
		for _, c := range cells {
			if int(c.X) < p.Left[o] {
				p.Left[o] = int(c.X)
			}
			if int(c.X) > p.right[o] {
				p.right[o] = int(c.X)
			}
			if int(c.Y) > p.Low[o] {
				p.Low[o] = int(c.Y)
			}
			turned = append(turned, Cell{int8(size) - 1 - c.Y, c.X})
		}
		if p.Cells[o] = cells; turns > 1 {
			cells = turned
		}
	}
	return p
}

// Pad is how many columns a box may reach beyond the left wall.
const Pad = 3

// Poses is a set of poses, that is, orientations and positions of a piece's box. It has one word
// per orientation and column: bit i of Poses[o][x+Pad] is the box with its left edge in column x
// and its top edge in row i-head, where head is the number of rows above the board that are in play.
type Poses [4][MaxWidth + Pad + 1]uint64

// span returns the range of indices x of Poses[o][x] that are within the walls.
func (p *Piece) span(o, width int) (lo, hi int) { return Pad - p.Left[o], Pad + width - p.right[o] }

// Reach finds the poses of p that cover no filled cell (free) and those of them that shifts, turns
// and steps down lead to (reach), starting in orientation 0, column spawn, bit 0. Both sets must be
// empty on entry, and the start must be free. occ holds the filled cells, bit i being row i-head;
// all bits from the floor on must be set. The walls are the edges of the first width columns.
//
// Every pose in reach can be reached with at most steps shifts and turns, not counting steps down.
func (p *Piece) Reach(occ *Field, width, spawn int, free, reach *Poses) (steps int) {
	taken := uint64(0)
	for _, c := range occ[:width] {
		taken |= c
	}
	open := bits.TrailingZeros64(taken) >= p.Size
	dirty, full := uint(0), uint(0)
	for o := 0; o < p.Turns; o++ {
		lo, hi := p.span(o, width)
		p.free(occ, o, lo, hi, &free[o])
		if open { // every column can be reached in the top rows, and from there straight down
			f, r := &free[o], &reach[o]
			deep := uint64(0)
			for x := lo; x < hi; x++ {
				r[x] = Fall(1, f[x])
				deep |= f[x] &^ r[x]
			}
			dirty |= 1 << uint(o)
			if deep<<uint(p.Size) == 0 { // free shifts in as many bits
				full |= 1 << uint(o)
			}
			for _, shifts := range [2]int{spawn + Pad - lo, hi - 1 - Pad - spawn} {
				if shifts+p.Turns/2 > steps {
					steps = shifts + p.Turns/2
				}
			}
		}
	}
	if !open {
		reach[0][spawn+Pad] = Fall(1, free[0][spawn+Pad])
		dirty = 1
	}
	return steps + p.flood(width, free, reach, dirty, full)
}

// free finds where orientation o covers no filled cell.
func (p *Piece) free(occ *Field, o, lo, hi int, out *[MaxWidth + Pad + 1]uint64) {
	cells := p.Cells[o]
	if len(cells) == 4 { // a tetromino
		a, b, c, d := cells[0], cells[1], cells[2], cells[3]
		for x := lo; x < hi; x++ {
			at := x - Pad
			out[x] = ^(occ[at+int(a.X)]>>(uint(a.Y)&63) | occ[at+int(b.X)]>>(uint(b.Y)&63) |
				occ[at+int(c.X)]>>(uint(c.Y)&63) | occ[at+int(d.X)]>>(uint(d.Y)&63))
		}
		return
	}
	for x := lo; x < hi; x++ {
		blocked := uint64(0)
		for _, c := range cells {
			blocked |= occ[x-Pad+int(c.X)] >> uint(c.Y)
		}
		out[x] = ^blocked
	}
}

// flood extends reach until nothing changes. dirty holds, as bits, the orientations to extend
// from, full those in which all free poses are reached. It returns a bound on the number of shifts
// and turns that this took.
func (p *Piece) flood(width int, free, reach *Poses, dirty, full uint) (steps int) {
	for dirty != 0 {
		for o := 0; o < p.Turns; o++ {
			if dirty>>uint(o)&1 == 0 {
				continue
			}
			dirty &^= 1 << uint(o)
			lo, hi := p.span(o, width)
			if full>>uint(o)&1 == 0 {
				steps += sweep(free[o][lo:hi], reach[o][lo:hi])
			}
			if p.Turns == 1 {
				continue
			}
			for _, n := range [2]int{(o + 1) % p.Turns, (o + p.Turns - 1) % p.Turns} {
				if full>>uint(n)&1 == 0 && turn(&reach[o], &free[n], &reach[n], lo, hi) {
					dirty |= 1 << uint(n)
					steps++
				}
			}
		}
	}
	return steps
}

// sweep extends one orientation's poses sideways and down until nothing changes. It returns how
// many times it added poses to a column.
func sweep(free, reach []uint64) (steps int) {
	reach = reach[:len(free)]
	for {
		before, side := steps, uint64(0)
		for x, f := range free {
			was := reach[x]
			if add := side & f &^ was; add != 0 {
				steps++
				was = Fall(was|add, f)
				reach[x] = was
			}
			side = was
		}
		side = 0
		for x := len(free) - 1; x >= 0; x-- {
			f, was := free[x], reach[x]
			if add := side & f &^ was; add != 0 {
				steps++
				was = Fall(was|add, f)
				reach[x] = was
			}
			side = was
		}
		if steps == before {
			return steps
		}
	}
}

// Fall adds to r, a subset of f, every pose of f straight below a pose of r. It uses the carry
// of an addition: r+f carries through each run of free poses from the topmost reached one down.
func Fall(r, f uint64) uint64 { return f&^(f+r) | r }

// turn adds to reach the poses of from that are free in the new orientation, and those straight
// below them. It reports whether any of them is new.
func turn(from, free, reach *[MaxWidth + Pad + 1]uint64, lo, hi int) bool {
	fresh := uint64(0)
	for x := lo; x < hi; x++ {
		if v := from[x] & free[x] &^ reach[x]; v != 0 {
			fresh |= v
			reach[x] = Fall(reach[x]|v, free[x])
		}
	}
	return fresh != 0
}

// MaxWidth is the largest width of a Field.
const MaxWidth = 12

// A Field is a board as columns of bits: bit y of Field[x] is the cell in column x, row y,
// with row 0 on top. Columns beyond the board's width stay zero.
//
// With columns instead of rows, frequent operations take a few word operations per column:
// falling is one addition (see Fall), heights and holes are bit counts, a rising row is a
// shift, and full rows are one AND.
type Field [MaxWidth]uint64

// At reports whether the cell in column x, row y is filled.
func (f *Field) At(x, y int) bool { return f[x]>>uint(y)&1 != 0 }

// Set fills the cell in column x, row y.
func (f *Field) Set(x, y int) { f[x] |= 1 << uint(y) }

// Full returns, as bits, the rows that are filled in all of the first width columns.
func (f *Field) Full(width int) uint64 {
	rows := ^uint64(0)
	for _, c := range f[:width] {
		rows &= c
	}
	return rows
}

// Any returns, as bits, the rows that have a filled cell.
func (f *Field) Any() uint64 {
	rows := uint64(0)
	for _, c := range f {
		rows |= c
	}
	return rows
}

// Clear removes the rows given as bits. The cells above each of them move down by one.
func (f *Field) Clear(rows uint64) {
	for ; rows != 0; rows &= rows - 1 {
		above := rows&-rows - 1 // bits of the rows above the topmost row to remove
		below := ^above << 1
		for x, c := range f {
			f[x] = c&below | c&above<<1
		}
	}
}

// Raise moves every row up by k. Cells that pass row 0 are lost; the rows at the bottom become empty.
func (f *Field) Raise(k int) {
	for x, c := range f {
		f[x] = c >> uint(k)
	}
}
