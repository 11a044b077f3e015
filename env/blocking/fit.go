package blocking

import "math/bits"

// A fit is an oriented piece with one of its squares on a given cell, the anchor. Whether it is legal follows from
// the cells near the anchor, its window: those within four steps by sides. The window has parts of eight cells each.
// A table says for each part, and each set of free cells in it, which fits cover no other cells of the part. A few
// lookups thus find all placements that cover the anchor.

// blockLen is how many fits a block has. The default table has 414, others up to 840.
const blockLen = 512

// A fitSet is a set of fits of a block, a bit for each of up to 512.
type fitSet [blockLen / 64]uint64

func (f *fitSet) set(i int) { f[i/64] |= 1 << uint(i%64) }

// any reports whether the set has fits.
func (f *fitSet) any() bool { return f[0]|f[1]|f[2]|f[3]|f[4]|f[5]|f[6]|f[7] != 0 }

// A block is some fits of a table, or all.
type block struct {
	free    [parts][256]fitSet            // those that cover no cells of a part but these
	letters [(Letters + 3) / 4][16]fitSet // those of any set of four letters
	ids     [Size]fitIDs                  // of the placements with the anchor at (0, y), modulo 65536
	traces  [blockLen]uint64              // the cells as a window, and above them a bit for the letter
	letter  [blockLen]uint8
	n       int
}

// fitIDs holds a number for each fit.
type fitIDs [blockLen / 64][64]uint16

// order sorts fits by the sides at which the piece continues from the anchor: 1 up, 2 right, 4 down, 8 left. At most
// anchors, cells of the seat leave two of them, so that fits that are legal at the same anchor are close together.
var order = [16]int{0, 2, 6, 4, 12, 8, 9, 1, 3, 5, 10, 7, 14, 13, 11, 15}

// newBlocks returns the fits of a table.
func newBlocks(t *Table) (out []*block) {
	for _, sides := range order {
		for i := range t.Oriented {
			o := &t.Oriented[i]
			for _, anchor := range o.Cells {
				w := o.window(anchor)
				if int(w>>11&1|w>>4&1<<1|w>>19&1<<2|w>>3&1<<3) != sides {
					continue
				}
				if k := len(out); k == 0 || out[k-1].n == blockLen {
					out = append(out, new(block))
				}
				out[len(out)-1].add(o, anchor, w)
			}
		}
	}
	for _, b := range out {
		b.fill()
	}
	return out
}

// window returns the squares around one of the squares.
func (o *Oriented) window(anchor Cell) window {
	var squares rows
	for _, c := range o.Cells {
		squares[border+c.Y-anchor.Y] |= 1 << uint(border+c.X-anchor.X)
	}
	return squares.window(0, 0)
}

// add adds the fit of o that has a square on the anchor and the squares w around it.
func (b *block) add(o *Oriented, anchor Cell, w window) {
	i, across := b.n, Size+1-o.W
	b.n++
	b.traces[i] = uint64(w) | 1<<uint(8*parts+o.Letter)
	b.letter[i] = uint8(o.Letter)
	for y := range b.ids {
		b.ids[y][i/64][i%64] = uint16(int(o.Base) + (y-int(anchor.Y))*across - int(anchor.X))
	}
	for set := range b.letters[o.Letter/4] {
		if set>>uint(o.Letter%4)&1 != 0 {
			b.letters[o.Letter/4][set].set(i)
		}
	}
}

// fill computes free.
func (b *block) fill() {
	for p := range b.free {
		of := &b.free[p]
		var over [8]fitSet // fits that cover each cell of the part
		for i := 0; i < b.n; i++ {
			of[255].set(i)
			for c := range over {
				if b.traces[i]>>uint(8*p+c)&1 != 0 {
					over[c].set(i)
				}
			}
		}
		for s := 254; s >= 0; s-- {
			c := bits.TrailingZeros8(^uint8(s))
			for k, w := range of[s|1<<uint(c)] {
				of[s][k] = w &^ over[c][k]
			}
		}
	}
}

// A scan visits the anchors of a position, row by row, with the fits of a block that are legal there.
type scan struct {
	b       *block
	free    rows   // cells that pieces may cover
	anchors Board  // to come
	may     fitSet // of the letters that may be laid
	fits    fitSet // at the anchor
	x, y    uint   // the anchor
}

// start begins a scan of placements. One that covers several connected cells is a fit at the first of them only.
func (s *scan) start(b *block, allowed, connected *Board, letters uint32) {
	s.b, s.anchors = b, *connected
	s.free.set(allowed)
	s.only(letters)
}

// only lets the scan go on with these letters.
func (s *scan) only(letters uint32) {
	l, i := &s.b.letters, letters
	a, c, d := &l[0][i&15], &l[1][i>>4&15], &l[2][i>>8&15]
	e, f, g := &l[3][i>>12&15], &l[4][i>>16&15], &l[5][i>>20&15]
	for k := range s.may {
		s.may[k] = a[k] | c[k] | d[k] | e[k] | f[k] | g[k]
	}
}

// next moves to the next anchor. It returns false if there is none.
func (s *scan) next() bool {
	for k := range s.anchors {
		if s.anchors[k] == 0 {
			continue
		}
		at := uint(bits.TrailingZeros64(s.anchors[k]))
		s.anchors[k] &= s.anchors[k] - 1
		s.x, s.y = at%stride, uint(k)*4+at/stride
		w := s.free.window(s.x, s.y)
		s.free[s.y+border] &^= 1 << (s.x + border)
		of := &s.b.free
		a, b, c := &of[0][uint8(w)], &of[1][uint8(w>>8)], &of[2][uint8(w>>16)]
		d, e := &of[3][uint8(w>>24)], &of[4][uint8(w>>32)]
		for i := range s.fits {
			s.fits[i] = s.may[i] & a[i] & b[i] & c[i] & d[i] & e[i]
		}
		return true
	}
	return false
}

// A Survey is what a seat can place.
type Survey struct {
	Places  int             // placements
	Of      [Letters]uint16 // of them, those of each letter
	Letters uint32          // with a placement
	Cover   Board           // cells that some placement covers
}

// Survey returns what can be placed of some letters, on allowed cells and at least one connected cell; see State.Open.
func (t *Table) Survey(allowed, connected *Board, letters uint32) (out Survey) {
	var s scan
	var cover rows
	for _, b := range t.blocks {
		for s.start(b, allowed, connected, letters); s.next(); {
			trace := uint64(0)
			for k := range s.fits {
				w, of, letter := s.fits[k], b.traces[64*k:64*k+64], b.letter[64*k:64*k+64]
				out.Places += bits.OnesCount64(w)
				for ; w != 0; w &= w - 1 {
					i := bits.TrailingZeros64(w) & 63
					trace |= of[i]
					out.Of[letter[i]%Letters]++
				}
			}
			if trace != 0 {
				out.Letters |= uint32(trace >> (8 * parts))
				cover.add(s.x, s.y, window(trace))
			}
		}
	}
	out.Cover = cover.board()
	return out
}

// Placeable returns which of some letters can be placed, as Survey does.
func (t *Table) Placeable(allowed, connected *Board, letters uint32) (found uint32) {
	var s scan
	for _, b := range t.blocks {
		for s.start(b, allowed, connected, letters&^found); s.next(); {
			old := found
			for k, w := range s.fits {
				for of := b.letter[64*k : 64*k+64]; w != 0; w &= w - 1 {
					found |= 1 << (of[bits.TrailingZeros64(w)&63] & 31)
				}
			}
			if found == letters {
				return found
			}
			if found != old {
				s.only(letters &^ found)
			}
		}
	}
	return found
}

// stride is the bits per row: 13 cells, and 3 that stay empty so that a shift by a cell never carries.
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

// Has reports whether the cell in column x, row y is in the set.
func (b *Board) Has(x, y int) bool { return b[y/4]>>uint(y%4*stride+x)&1 != 0 }

// Set adds the cell in column x, row y to the set.
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

// Grow sets b to the cells of set and those of in, all of them on the board, that touch one of set along a side.
func (b *Board) Grow(set, in *Board) {
	p, q, r, t := set[0], set[1], set[2], set[3]
	b[0] = p | in[0]&(p>>1|p<<1|p>>stride|p<<stride|q<<rest)
	b[1] = q | in[1]&(q>>1|q<<1|q>>stride|q<<stride|p>>rest|r<<rest)
	b[2] = r | in[2]&(r>>1|r<<1|r>>stride|r<<stride|q>>rest|t<<rest)
	b[3] = t | in[3]&(t>>1|t<<1|r>>rest)
}

// Around returns the cells of the set and those that touch one along a side or at a corner.
func (b *Board) Around() Board {
	p, q, r, t := b[0]|b[0]>>1|b[0]<<1, b[1]|b[1]>>1|b[1]<<1, b[2]|b[2]>>1|b[2]<<1, b[3]|b[3]>>1|b[3]<<1
	return Board{
		(p | p>>stride | p<<stride | q<<rest) & inRow,
		(q | q>>stride | q<<stride | p>>rest | r<<rest) & inRow,
		(r | r>>stride | r<<stride | q>>rest | t<<rest) & inRow,
		(t | r>>rest) & inLast,
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
