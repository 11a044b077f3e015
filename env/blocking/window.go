package blocking

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
