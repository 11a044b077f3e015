package blocking

import "math/bits"

// A fit is an oriented piece with one of its squares on a given cell, the anchor. Whether it is
// legal follows from the cells near the anchor, its window: those within four steps by sides. The
// window has parts of eight cells each. A table says for each part, and each set of free cells in
// it, which fits cover no other cells of the part. A few lookups thus find all placements that
// cover the anchor.

// blockLen is how many fits a block has. The default table has 414, others up to 840.
const blockLen = 512

// A fitSet is a set of fits of a block.
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
	n       int
}

// fitIDs holds a number for each fit.
type fitIDs [blockLen / 64][64]uint16

// order sorts fits by the sides at which the piece continues from the anchor: 1 up, 2 right, 4 down,
// 8 left. At most anchors, cells of the seat leave two of them, so that fits that are legal at
// the same anchor are close together.
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
