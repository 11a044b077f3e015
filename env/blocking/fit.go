package blocking

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
