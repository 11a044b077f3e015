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

// A window is a set of cells near an anchor: bit 8*p+i is cell i of part p.
//
//	part 0   the anchor's row: the 4 cells to the left, then the 4 to the right
//	part 1   7 cells one row above, then the cell four rows above
//	part 2   7 cells one row below, then the cell four rows below
//	part 3   5 cells two rows above, then 3 cells three rows above
//	part 4   5 cells two rows below, then 3 cells three rows below
type window uint64

const (
	parts  = 5
	border = maxSquares - 1
)

// rows is a board with empty cells around it: cell (x, y) is bit x+border of row y+border.
type rows [Size + 2*border]uint32

// set copies a board, whose other bits are 0.
func (r *rows) set(b *Board) {
	for k := 0; k < 3; k++ {
		w, four := b[k], (*[4]uint32)(r[border+4*k:border+4*k+4])
		four[0] = uint32(w) & inLast << border
		four[1] = uint32(w>>stride) & inLast << border
		four[2] = uint32(w>>(2*stride)) & inLast << border
		four[3] = uint32(w>>(3*stride)) << border
	}
	r[border+Size-1] = uint32(b[3]) << border
}

// board is the inverse of set. It drops cells outside the board.
func (r *rows) board() (b Board) {
	for y := uint(0); y < Size; y++ {
		b[y/4] |= uint64(r[y+border]>>border&inLast) << (y % 4 * stride)
	}
	return b
}

// near returns the rows of the window around (x, y).
func (r *rows) near(y uint) *[2*border + 1]uint32 {
	return (*[2*border + 1]uint32)(r[y : y+2*border+1])
}

// window returns the cells around (x, y).
func (r *rows) window(x, y uint) window {
	n, x := r.near(y), x&15
	w := n[4]>>x&0xF | n[4]>>x>>5&0xF<<4 | (n[3]>>x>>1&0x7F|n[0]>>x>>4&1<<7)<<8 |
		(n[5]>>x>>1&0x7F|n[8]>>x>>4&1<<7)<<16 | (n[2]>>x>>2&0x1F|n[1]>>x>>3&7<<5)<<24
	return window(w) | window(n[6]>>x>>2&0x1F|n[7]>>x>>3&7<<5)<<32
}

// add adds (x, y) and the cells w around it.
func (r *rows) add(x, y uint, w window) {
	n, x := r.near(y), x&15
	a, b := uint32(w), uint32(w>>32)
	n[0] |= a >> 15 & 1 << 4 << x
	n[1] |= a >> 29 & 7 << 3 << x
	n[2] |= a >> 24 & 0x1F << 2 << x
	n[3] |= a >> 8 & 0x7F << 1 << x
	n[4] |= (a&0xF | 1<<4 | a>>4&0xF<<5) << x
	n[5] |= a >> 16 & 0x7F << 1 << x
	n[6] |= b & 0x1F << 2 << x
	n[7] |= b >> 5 & 7 << 3 << x
	n[8] |= a >> 23 & 1 << 4 << x
}
