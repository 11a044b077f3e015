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
