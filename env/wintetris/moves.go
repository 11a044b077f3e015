package wintetris

import "math/bits"

// MaxMoves is the longest move list there is: four rotations of an O in nine columns.
const MaxMoves = 36

// openFrom is the lowest row that must be empty, with all above it, for a piece that appears
// to turn and step freely; it leaves room for every piece to rest within the field, too.
const openFrom = Height - 4

// Moves appends the demo solver's move list to dst (rules §8.1): for each number of turns
// clockwise that b can make where it is, from its leftmost column to its rightmost, where it
// comes to rest. Entries of equal cells are kept. b fits.
func (f *Field) Moves(b Block, dst []Block) []Block {
	if b == spawns[b.Kind] && f.Low(openFrom) {
		return f.openMoves(b, false, dst)
	}
	if b.Y > Height { // as good as the highest row that is looked at
		b.Y = Height
	}
	for t := 0; t < Rotations; t++ {
		if t > 0 {
			if b = b.Turned(1); !f.Fits(b) {
				break // so are more turns
			}
		}
		c := b
		var last int8
		for c.X, last = f.run(b); c.X <= last; c.X++ {
			dst = append(dst, f.Fall(c))
		}
	}
	return dst
}

// run returns the first and the last column that the block, which fits, can step to.
func (f *Field) run(b Block) (first, last int8) {
	fits := f.fits(&shapes[b.Kind][b.Rot], int(b.Y))
	at := uint(b.X + margin)
	left := bits.Len32(^fits & (1<<at - 1)) // one above the nearest column to the left that is blocked
	right := bits.TrailingZeros32(^fits >> at)
	return int8(left) - margin, b.X + int8(right) - 1
}

// margin is what is added to a box's column so that none is negative.
const margin = 3

// fits returns the columns that a box with its bottom edge in row y, -2 ≤ y ≤ Height, can be
// in: bit x+margin is column x.
func (f *Field) fits(s *shape, y int) uint32 {
	const walls = ^uint32(fullRow << margin)
	hit := uint32(0)
	for _, c := range s.cells {
		hit |= (uint32(f[y+int(c>>2)])<<margin | walls) >> (c & 3)
	}
	return ^hit
}

// Distinct is Moves without the entries that cover the same cells as an earlier one. b is
// where it appears.
func (f *Field) Distinct(b Block, dst []Block) []Block {
	if f.Low(openFrom) {
		return f.openMoves(b, true, dst)
	}
	n := len(dst)
	dst = f.Moves(b, dst)
	var seen [Rotations]uint32
	kept := dst[:n]
	for _, m := range dst[n:] {
		first := m.First()
		at := uint32(1) << uint(first.X-minX)
		if seen[first.Rot]&at == 0 {
			seen[first.Rot] |= at
			kept = append(kept, m)
		}
	}
	return kept
}

// openMoves is Moves where nothing is in the way but what a piece comes to rest on, or
// Distinct.
func (f *Field) openMoves(b Block, distinct bool, dst []Block) []Block {
	h := f.Heights()
	for t := range shapes[b.Kind] {
		if distinct && twins[b.Kind][t].of != uint8(t) {
			continue
		}
		s := &shapes[b.Kind][t]
		b.Rot = uint8(t)
		for b.X = s.lo; b.X <= s.hi; b.X++ {
			b.Y = -s.low
			over := h[b.X-s.lo : b.X-s.lo+s.wide]
			for c := range over {
				if y := over[c] - s.foot[c]; y > b.Y {
					b.Y = y
				}
			}
			dst = append(dst, b)
		}
	}
	return dst
}

// Inside reports whether all of a resting block is within the field.
func (b Block) Inside() bool { return b.Top() < Height }

// twins says under which smaller rotation a rotation's cells stand as well, that box being
// moved by (dx, dy); itself, not moved, if there is none.
var twins = func() (out [Kinds][Rotations]twin) {
	for k := range out {
		for r := range out[k] {
			out[k][r] = twin{of: uint8(r)}
			for q := 0; q < r && out[k][r].of == uint8(r); q++ {
				a, b := &shapes[k][q], &shapes[k][r]
				if a.mask>>uint(16*a.low-a.lo) == b.mask>>uint(16*b.low-b.lo) {
					out[k][r] = twin{uint8(q), a.lo - b.lo, b.low - a.low}
				}
			}
		}
	}
	return out
}()

type twin struct {
	of     uint8
	dx, dy int8
}
