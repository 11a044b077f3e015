package wintetris

import "math/bits"

// MaxMoves is the length of the longest move list: four rotations of an O in nine columns.
const MaxMoves = 36

// If row openFrom and all rows above it are empty, a piece that has just appeared can turn and step
// freely, and every piece can come to rest within the field.
const openFrom = Height - 4

// Moves appends the demo solver's move list to dst (rules §13.1): for each number of clockwise turns
// that b can make where it is, and each column from the leftmost to the rightmost that it can step
// to, the place where it comes to rest. Entries that cover the same cells are kept. b must fit.
func (f *Field) Moves(b Block, dst []Block) []Block {
	if b == spawns[b.Kind] && f.Low(openFrom) {
		return f.openMoves(b, false, dst)
	}
	b.Y = min(b.Y, Height) // the rows above are empty, too
	for t := 0; t < Rotations; t++ {
		if t > 0 {
			if b = b.Turned(1); !f.Fits(b) {
				break // further turns are blocked, too
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

// run returns the first and the last column that the block can step to. The block must fit.
func (f *Field) run(b Block) (first, last int8) {
	fits := f.fits(&shapes[b.Kind][b.Rot], int(b.Y))
	at := uint(b.X + margin)
	left := bits.Len32(^fits & (1<<at - 1)) // one above the nearest column to the left that is blocked
	right := bits.TrailingZeros32(^fits >> at)
	return int8(left) - margin, b.X + int8(right) - 1
}

// margin is added to the column of a box so that it is not negative.
const margin = 3

// fits returns the columns where a box with its bottom edge in row y, -2 ≤ y ≤ Height, fits: bit x+margin is column x.
func (f *Field) fits(s *shape, y int) uint32 {
	const walls = ^uint32(fullRow << margin)
	hit := uint32(0)
	for _, c := range s.cells {
		hit |= (uint32(f[y+int(c>>2)])<<margin | walls) >> (c & 3)
	}
	return ^hit
}

// Distinct is Moves without entries that cover the same cells as an earlier entry. b must be where it appears.
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

// Drops appends the places where a piece comes to rest that falls from above the field, in any rotation and column, to
// dst: each set of cells once. They may reach above the field.
func (f *Field) Drops(kind uint8, dst []Block) []Block { return f.openMoves(Spawn(kind), true, dst) }

// openMoves is Moves, or Distinct, for a piece that can turn and step freely: see openFrom.
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
				b.Y = max(b.Y, over[c]-s.foot[c])
			}
			dst = append(dst, b)
		}
	}
	return dst
}

// Inside reports whether a resting block has no cell above the field.
func (b Block) Inside() bool { return b.Top() < Height }

// twins has the smallest rotation that covers the same cells as each, and by how much its box is moved.
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

// A twin is a rotation that covers the same cells as another, and by how much the box has to be moved for that.
type twin struct {
	of     uint8
	dx, dy int8
}

// Bits is a solver's answer in a tick (rules §4).
type Bits uint8

// The five bits. Left and Right exclude each other, and so do CW and CCW.
const (
	Left Bits = 1 << iota
	Right
	CW
	CCW
	Drop
	bitSets = 1 << iota // number of sets of bits
)

// Parts is the number of ticks over which the demo solver splits its search (rules §13.5).
const Parts = 4

// Toward returns the placer's bits for a piece on its way to target (rules §13.4). It ignores obstacles.
func Toward(now, target Block) Bits {
	var out Bits
	switch (target.Rot - now.Rot) & 3 {
	case 1, 2:
		out = CW
	case 3:
		out = CCW
	}
	switch {
	case target.X < now.X:
		out |= Left
	case target.X > now.X:
		out |= Right
	}
	if out == 0 {
		return Drop
	}
	return out
}

// A Solver returns the bits of each tick (rules §8.1). f holds the settled cells, now is the piece in
// play, next is the next piece where it will appear, and fresh is true in the first tick of a
// piece. f is read-only and valid only during the call.
type Solver interface {
	// Update returns the bits for this tick. It is called once per tick, in order, and must not keep f.
	Update(f *Field, now, next Block, fresh bool) Bits
}
