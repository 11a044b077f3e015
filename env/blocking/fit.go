package blocking

// spread is how many different offsets the squares of polyominoes have in their boxes:
// those with dx+dy up to 4.
const spread = 15

// offsets are these as shifts of a Board, row by row; see offset.
var offsets = func() (out [spread]uint) {
	for dy := 0; dy < maxSquares; dy++ {
		for dx := 0; dx+dy < maxSquares; dx++ {
			out[offset(dx, dy)] = uint(dy*stride + dx)
		}
	}
	return out
}()

// offset numbers an offset: 5 with dy = 0, then 4 with dy = 1, and so on.
func offset(dx, dy int) uint8 { return uint8(dy*(2*maxSquares+1-dy)/2 + dx) }

// A Fit tells where oriented pieces fit a seat's open cells, in all places at once: each
// square of a piece asks the board moved by its offset.
type Fit struct {
	allowed, touch [spread]Board
}

// Look takes the cells that may be covered and those of which one at least must be; see
// State.Open.
func (f *Fit) Look(allowed, connected *Board) {
	for i, by := range offsets {
		f.allowed[i], f.touch[i] = allowed.toward(by), connected.toward(by)
	}
}

// Places returns where the top left corner of o's box can be.
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

// A Cover gathers the cells that placements cover. Its zero value is empty.
type Cover struct{ at [spread]Board }

// Add adds the placements of o with the corners of their boxes at places.
func (c *Cover) Add(o *Oriented, places *Board) {
	for _, i := range o.offsets {
		c.at[i].Or(places)
	}
}

// Cells returns what is covered.
func (c *Cover) Cells() (out Board) {
	for i, by := range offsets {
		b := c.at[i].away(by)
		out.Or(&b)
	}
	return out
}
