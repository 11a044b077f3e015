package wintetris

// Bits is a solver's answer in a tick (rules §5).
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

// Parts is the number of ticks over which the demo solver splits its search (rules §8.5).
const Parts = 4

// Toward returns the placer's bits for a piece on its way to the rotation and column of target
// (rules §8.4). It ignores obstacles.
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

// A Solver returns the bits of each tick (rules §5). f holds the settled cells, now is the piece in
// play, next is the next piece where it will appear, and fresh is true in the first tick of a
// piece. f is read-only and valid only during the call.
type Solver interface {
	Update(f *Field, now, next Block, fresh bool) Bits
}

// Ask plays one tick with the bits of the solver; see Tick.
func (e *Engine) Ask(s Solver) (locked bool) {
	return e.Tick(s.Update(&e.Field, e.Piece, e.Upcoming(), e.New))
}
