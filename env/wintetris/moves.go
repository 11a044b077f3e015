package wintetris

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
		return f.openMoves(b, dst)
	}
	for t := 0; t < Rotations; t++ {
		if t > 0 {
			if b = b.Turned(1); !f.Fits(b) {
				break // so are more turns
			}
		}
		c := b
		for f.Fits(c.Moved(-1, 0)) {
			c.X--
		}
		for ; f.Fits(c); c.X++ {
			dst = append(dst, f.Fall(c))
		}
	}
	return dst
}

// openMoves is Moves where nothing is in the way but what a piece comes to rest on.
func (f *Field) openMoves(b Block, dst []Block) []Block {
	h := f.Heights()
	for t := range shapes[b.Kind] {
		s := &shapes[b.Kind][t]
		b.Rot = uint8(t)
		left, right := int8(-s.lo), Width-1-s.hi // columns of the box in use
		for b.X = s.lo; b.X <= s.hi; b.X++ {
			b.Y = -s.low
			for c := left; c <= right; c++ {
				if y := h[b.X+c] - s.foot[c]; y > b.Y {
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

// twins says where a rotation's cells stand again under a smaller one: in box column x plus
// the number. Rotations 0 and 1 have none in a two-fold piece, O has them all.
var twins = func() (out [Kinds][Rotations]twin) {
	for k := range out {
		for r := range out[k] {
			out[k][r] = twin{of: uint8(r)}
			for q := 0; q < r && out[k][r].of == uint8(r); q++ {
				a, b := &shapes[k][q], &shapes[k][r]
				if a.mask>>uint(16*a.low-a.lo) == b.mask>>uint(16*b.low-b.lo) {
					out[k][r] = twin{of: uint8(q), dx: a.lo - b.lo}
				}
			}
		}
	}
	return out
}()

type twin struct {
	of uint8
	dx int8
}
