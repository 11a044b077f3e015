package blocking

import "math/bits"

// stride is the number of bits per row: 13 cells and 3 bits that stay empty, so that a shift by
// one cell never carries into the next row.
const stride = 16

// A Board is a set of cells: bit y*16+x of 256 bits, in four words of four rows.
type Board [4]uint64

const (
	inRow  = 0x1FFF1FFF1FFF1FFF // the cells of four rows
	inLast = 0x1FFF             // the cells of the last word, one row
	rest   = 64 - stride        // from the first row of a word to the last
)

// all is every cell of the board.
var all = Board{inRow, inRow, inRow, inLast}

// Has reports whether the cell is in the set.
func (b *Board) Has(x, y int) bool { return b[y/4]>>uint(y%4*stride+x)&1 != 0 }

// Set adds a cell.
func (b *Board) Set(x, y int) { b[y/4] |= 1 << uint(y%4*stride+x) }

// Count returns how many cells are in the set.
func (b *Board) Count() int {
	return bits.OnesCount64(b[0]) + bits.OnesCount64(b[1]) + bits.OnesCount64(b[2]) + bits.OnesCount64(b[3])
}

// Empty reports whether the set has no cells.
func (b *Board) Empty() bool { return b[0]|b[1]|b[2]|b[3] == 0 }

// Or adds the cells of c.
func (b *Board) Or(c *Board) {
	b[0], b[1], b[2], b[3] = b[0]|c[0], b[1]|c[1], b[2]|c[2], b[3]|c[3]
}

// And removes the cells that c does not have.
func (b *Board) And(c *Board) {
	b[0], b[1], b[2], b[3] = b[0]&c[0], b[1]&c[1], b[2]&c[2], b[3]&c[3]
}

// Without removes the cells of c.
func (b *Board) Without(c *Board) {
	b[0], b[1], b[2], b[3] = b[0]&^c[0], b[1]&^c[1], b[2]&^c[2], b[3]&^c[3]
}

// toward returns the set moved up and left by (dx, dy), where by = dy*16+dx is below 128.
func (b *Board) toward(by uint) Board {
	if by >= 64 {
		s := by - 64
		return Board{b[1]>>s | b[2]<<(64-s), b[2]>>s | b[3]<<(64-s), b[3] >> s, 0}
	}
	return Board{b[0]>>by | b[1]<<(64-by), b[1]>>by | b[2]<<(64-by), b[2]>>by | b[3]<<(64-by), b[3] >> by}
}

// away is the inverse of toward.
func (b *Board) away(by uint) Board {
	if by >= 64 {
		s := by - 64
		return Board{0, b[0] << s, b[1]<<s | b[0]>>(64-s), b[2]<<s | b[1]>>(64-s)}
	}
	return Board{b[0] << by, b[1]<<by | b[0]>>(64-by), b[2]<<by | b[1]>>(64-by), b[3]<<by | b[2]>>(64-by)}
}

// Sides returns the cells that touch a cell of the set along a side, which may be in the set.
func (b *Board) Sides() Board {
	p, q, r, t := b[0], b[1], b[2], b[3]
	return Board{
		(p>>1 | p<<1 | p>>stride | p<<stride | q<<rest) & inRow,
		(q>>1 | q<<1 | q>>stride | q<<stride | p>>rest | r<<rest) & inRow,
		(r>>1 | r<<1 | r>>stride | r<<stride | q>>rest | t<<rest) & inRow,
		(t>>1 | t<<1 | r>>rest) & inLast,
	}
}

// Corners returns the cells that touch a cell of the set diagonally, which may be in the set.
func (b *Board) Corners() Board {
	p, q, r, t := b[0]>>1|b[0]<<1, b[1]>>1|b[1]<<1, b[2]>>1|b[2]<<1, b[3]>>1|b[3]<<1
	return Board{
		(p>>stride | p<<stride | q<<rest) & inRow,
		(q>>stride | q<<stride | p>>rest | r<<rest) & inRow,
		(r>>stride | r<<stride | q>>rest | t<<rest) & inRow,
		r >> rest & inLast,
	}
}

// numOffsets is the number of different offsets (dx, dy) of squares in the boxes of polyominoes:
// those with dx+dy up to 4.
const numOffsets = 15

// offset returns the index of an offset, row by row: five have dy = 0, the next four dy = 1, and so on.
func offset(dx, dy int) uint8 { return uint8(dy*(2*maxSquares+1-dy)/2 + dx) }

// A Fit finds where oriented pieces fit a seat's open cells, for all places at once: it combines
// the board shifted by the offset of each square of the piece.
type Fit struct {
	allowed, touch moved
}

// moved is a board moved by each offset.
type moved [numOffsets]Board

// Open sets the cells that a piece may cover, and those of which it must cover at least one; see
// State.Open.
func (f *Fit) Open(allowed, connected *Board) {
	f.allowed.set(allowed)
	f.touch.set(connected)
}

// set writes the board moved by every offset, up first and then left. Cells that leave a row on the left come back on
// the right of the row above, 13 to 15 columns being empty: no piece has a square in the first of these.
func (m *moved) set(b *Board) {
	k := 0
	for dy := uint(0); dy < maxSquares; dy++ {
		up := b.toward(dy * stride)
		for dx := uint(0); dx+dy < maxSquares; dx++ {
			m[k] = Board{up[0] >> dx, up[1] >> dx, up[2] >> dx, up[3] >> dx}
			k++
		}
	}
}

// Places returns the cells where the top left corner of o's box can be.
func (f *Fit) Places(o *Oriented) Board {
	i := o.offsets[0]
	p, q, r, t := f.allowed[i][0], f.allowed[i][1], f.allowed[i][2], f.allowed[i][3]
	for _, i := range o.offsets[1:] {
		a := &f.allowed[i]
		p, q, r, t = p&a[0], q&a[1], r&a[2], t&a[3]
	}
	if p|q|r|t == 0 {
		return Board{}
	}
	touch := f.touch[i]
	for _, i := range o.offsets[1:] {
		c := &f.touch[i]
		touch[0], touch[1], touch[2], touch[3] = touch[0]|c[0], touch[1]|c[1], touch[2]|c[2], touch[3]|c[3]
	}
	return Board{p & touch[0], q & touch[1], r & touch[2], t & touch[3]}
}

// A Cover collects the cells that placements cover. The zero value is empty.
type Cover struct{ at [numOffsets]Board }

// Add adds the placements of o whose boxes have their top left corners at places.
func (c *Cover) Add(o *Oriented, places *Board) {
	for _, i := range o.offsets {
		c.at[i].Or(places)
	}
}

// Cells returns the covered cells.
func (c *Cover) Cells() (out Board) {
	k := 0
	for dy := uint(0); dy < maxSquares; dy++ {
		var row Board // covered by the squares in row dy of the pieces
		for dx := uint(0); dx+dy < maxSquares; dx++ {
			at := &c.at[k]
			row[0], row[1], row[2], row[3] = row[0]|at[0]<<dx, row[1]|at[1]<<dx, row[2]|at[2]<<dx, row[3]|at[3]<<dx
			k++
		}
		row = row.away(dy * stride)
		out.Or(&row)
	}
	return out
}
