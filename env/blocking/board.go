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

// numOffsets is the number of different offsets (dx, dy) of squares in the boxes of polyominoes:
// those with dx+dy up to 4.
const numOffsets = 15

// offsets holds them as shifts of a Board, row by row; see offset.
var offsets = func() (out [numOffsets]uint) {
	for dy := 0; dy < maxSquares; dy++ {
		for dx := 0; dx+dy < maxSquares; dx++ {
			out[offset(dx, dy)] = uint(dy*stride + dx)
		}
	}
	return out
}()

// offset returns the index of an offset: five have dy = 0, the next four dy = 1, and so on.
func offset(dx, dy int) uint8 { return uint8(dy*(2*maxSquares+1-dy)/2 + dx) }

// A Fit finds where oriented pieces fit a seat's open cells, for all places at once: it combines
// the board shifted by the offset of each square of the piece.
type Fit struct {
	allowed, touch [numOffsets]Board
}

// Open sets the cells that a piece may cover, and those of which it must cover at least one; see
// State.Open.
func (f *Fit) Open(allowed, connected *Board) {
	for i, by := range offsets {
		f.allowed[i], f.touch[i] = allowed.toward(by), connected.toward(by)
	}
}

// Places returns the cells where the top left corner of o's box can be.
func (f *Fit) Places(o *Oriented) Board {
	i := o.offsets[0]
	at, touch := f.allowed[i], f.touch[i]
	for _, i := range o.offsets[1:] {
		a, t := &f.allowed[i], &f.touch[i]
		at[0], at[1], at[2], at[3] = at[0]&a[0], at[1]&a[1], at[2]&a[2], at[3]&a[3]
		touch[0], touch[1], touch[2], touch[3] = touch[0]|t[0], touch[1]|t[1], touch[2]|t[2], touch[3]|t[3]
	}
	at[0], at[1], at[2], at[3] = at[0]&touch[0], at[1]&touch[1], at[2]&touch[2], at[3]&touch[3]
	return at
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
	for i, by := range offsets {
		b := c.at[i].away(by)
		out.Or(&b)
	}
	return out
}
