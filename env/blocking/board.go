package blocking

import "math/bits"

// stride is the number of bits per row: 13 cells and 3 bits that stay empty, so that a shift by
// one cell never carries into the next row.
const stride = 16

// A Board is a set of cells: bit y*16+x of 256 bits, in four words of four rows.
type Board [4]uint64

const inRow = 0x1FFF1FFF1FFF1FFF // the cells of four rows

// all is every cell of the board.
var all = Board{inRow, inRow, inRow, 0x1FFF}

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
	out := b.toward(1)
	others := [3]Board{b.away(1), b.toward(stride), b.away(stride)}
	for i := range others {
		out.Or(&others[i])
	}
	out.And(&all)
	return out
}

// Corners returns the cells that touch a cell of the set diagonally, which may be in the set.
// It repeats Sides because one function for both slows the searches down by a tenth.
func (b *Board) Corners() Board {
	out := b.toward(stride + 1)
	others := [3]Board{b.toward(stride - 1), b.away(stride + 1), b.away(stride - 1)}
	for i := range others {
		out.Or(&others[i])
	}
	out.And(&all)
	return out
}
