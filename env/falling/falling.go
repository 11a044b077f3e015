// Package falling holds what falling-block games share: boards as columns of bits, and the search for the places that a
// piece can reach. Board sizes, pieces and spawn points are arguments, so that no game depends on the rules of another.
package falling

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
	Start Boxes     // where it appears, in orientation 0
	cells [4][4]Cell
	walls [4]Boxes // where no cell is beyond a wall or the floor, by orientation
	steps int      // most shifts and turns from Start to any column and orientation
	right [4]uint  // by how many bits Landed moves the boxes of each orientation
}

// NewPiece creates a piece from the four cells of orientation 0, for boards of at most 10 columns
// and 20 rows. It appears with its box's left edge in column spawn and its top edge in row -1. A
// piece with one turn has these cells in all orientations.
func NewPiece(size, turns int, cells []Cell, width, height, spawn int) Piece {
	p := Piece{Turns: turns, Size: size}
	p.Start.add(spawn, -1)
	for o := range p.Cells {
		p.Left[o] = size
		right := 0
		var turned []Cell
		for _, c := range cells {
			p.Left[o] = min(p.Left[o], int(c.X))
			right = max(right, int(c.X))
			p.Low[o] = max(p.Low[o], int(c.Y))
			turned = append(turned, Cell{int8(size) - 1 - c.Y, c.X})
		}
		for x := -p.Left[o]; x+right < width; x++ {
			for y := -1; y+p.Low[o] < height; y++ {
				p.walls[o].add(x, y)
			}
			for _, shifts := range [2]int{spawn - x, x - spawn} {
				if shifts+turns/2 > p.steps {
					p.steps = shifts + turns/2
				}
			}
		}
		copy(p.cells[o][:], cells)
		p.right[o] = uint(column*(2-p.Left[o]) + 1 - p.Low[o] + word)
		if p.Cells[o] = cells; turns > 1 {
			cells = turned
		}
	}
	return p
}

// Boxes is a set of positions of a piece's box, in columns of bits: bit y+1 of column x is the box with
// its left edge in column x, -2 to 9, and its top edge in row y, -1 to 18. A word holds three columns,
// from the left, of 21 bits each; the last bit of each column stays 0. A word operation thus moves
// boxes in three columns, and an addition makes them fall (see Fall).
type Boxes [4]uint64

const (
	column  = 21                // bits of a column
	word    = 3 * column        // and of a word
	columns = 1<<42 | 1<<21 | 1 // the first bit of each column of a word
)

func (b *Boxes) add(x, y int) { b[(x+2)/3] |= 1 << uint((x+2)%3*column+y+1) }

// Of returns the cells of a board of 10 columns as boxes with one cell.
func Of(f *Field) Boxes {
	return Boxes{f[0] << 43, f[1]<<1 | f[2]<<22 | f[3]<<43, f[4]<<1 | f[5]<<22 | f[6]<<43, f[7]<<1 | f[8]<<22 | f[9]<<43}
}

// Beside sets b to the boxes one column left or right of those in of.
func (b *Boxes) Beside(of *Boxes) {
	w0, w1, w2, w3 := of[0], of[1], of[2], of[3]
	b[0] = w0<<21 | w0>>21 | w1<<42
	b[1] = w1<<21 | w0>>42 | w1>>21 | w2<<42
	b[2] = w2<<21 | w1>>42 | w2>>21 | w3<<42
	b[3] = w3<<21 | w2>>42 | w3>>21
}

// Reach finds the boxes of each orientation of p that cover no filled cell (free) and those of them that shifts,
// turns and steps down lead to from p.Start (reach). Rows from floor on are filled. The start must be free.
//
// Every box in reach can be reached with at most steps shifts and turns, not counting steps down.
func (p *Piece) Reach(board *Field, floor int, free, reach *[4]Boxes) (steps int) {
	occ := Of(board)
	ground := (1<<column - uint64(2)<<uint(floor)) * columns
	for i := range occ {
		occ[i] |= ground
	}
	p.free(&occ, free)
	top := uint64(1)<<uint(p.Size)*columns - columns // the rows of a box that has just appeared
	if (occ[0]|occ[1]|occ[2]|occ[3])&top == 0 {      // every column can be reached there, and from there straight down
		for o := range reach[:p.Turns] {
			r, f := &reach[o], &free[o]
			r[0], r[1] = Fall(f[0]&columns, f[0]), Fall(f[1]&columns, f[1])
			r[2], r[3] = Fall(f[2]&columns, f[2]), Fall(f[3]&columns, f[3])
		}
		return p.steps + p.flood(free, reach)
	}
	for i, s := range p.Start {
		reach[0][i] = Fall(s, free[0][i])
	}
	return p.flood(free, reach)
}

// free finds the boxes that cover no filled cell.
func (p *Piece) free(occ *Boxes, free *[4]Boxes) {
	var at [4]Boxes // the board, moved to the left by the column of a cell in its box
	next := uint64(0)
	for i := 3; i >= 0; i-- {
		w := occ[i]
		at[0][i], at[1][i], at[2][i], at[3][i] = w, w>>21|next<<42, w>>42|next<<21, next
		next = w
	}
	for o := range free[:p.Turns] {
		cells, walls, out := &p.cells[o], &p.walls[o], &free[o]
		a, b, c, d := cells[0], cells[1], cells[2], cells[3]
		for i := range out {
			out[i] = walls[i] &^ (at[a.X&3][i]>>uint(a.Y&3) | at[b.X&3][i]>>uint(b.Y&3) |
				at[c.X&3][i]>>uint(c.Y&3) | at[d.X&3][i]>>uint(d.Y&3))
		}
	}
}

// flood extends reach until nothing changes. It returns a bound on the number of shifts and turns that this took.
func (p *Piece) flood(free, reach *[4]Boxes) (steps int) {
	for before := -1; steps != before; {
		before = steps
		for o := range reach[:p.Turns] {
			r, f, a, b := &reach[o], &free[o], &reach[(o+1)&3], &reach[(o+3)&3]
			r0, r1, r2, r3 := r[0], r[1], r[2], r[3]
			n0 := (r0<<21 | r0>>21 | r1<<42 | a[0] | b[0]) & f[0] &^ r0
			n1 := (r1<<21 | r0>>42 | r1>>21 | r2<<42 | a[1] | b[1]) & f[1] &^ r1
			n2 := (r2<<21 | r1>>42 | r2>>21 | r3<<42 | a[2] | b[2]) & f[2] &^ r2
			n3 := (r3<<21 | r2>>42 | r3>>21 | a[3] | b[3]) & f[3] &^ r3
			if n0|n1|n2|n3 != 0 {
				r[0], r[1] = Fall(r0|n0, f[0]), Fall(r1|n1, f[1])
				r[2], r[3] = Fall(r2|n2, f[2]), Fall(r3|n3, f[3])
				steps++
			}
		}
	}
	return steps
}

// Fall adds to r, a subset of f, every box of f straight below a box of r. It uses the carry of an
// addition: r+f carries through each run of free boxes from the topmost reached one down.
func Fall(r, f uint64) uint64 { return f&^(f+r) | r }

// Landed returns the places of a piece in orientation o on a board of 20 rows: bit 20*x+y of 60 bits per
// word is the place with its leftmost cell in column x and its lowest cell in row y.
func (p *Piece) Landed(o int, b *Boxes) (out [4]uint64) {
	const first = 1<<20 - 1 // of three columns
	from, right := [6]uint64{0, b[0], b[1], b[2], b[3]}, p.right[o]
	at, right := right/word, right%word
	for i := range out {
		w := from[int(at)+i]>>right | from[int(at)+i+1]<<(word-right)
		out[i] = w&first | w>>1&(first<<20) | w>>2&(first<<40)
	}
	return out
}

// MaxWidth is the largest width of a Field.
const MaxWidth = 12

// A Field is a board as columns of bits: bit y of Field[x] is the cell in column x, row y,
// with row 0 on top. Columns beyond the board's width stay zero.
//
// With columns instead of rows, frequent operations take a few word operations per column: falling is one addition
// (see Fall), heights and holes are bit counts, a rising row is a shift, and full rows are one AND.
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
