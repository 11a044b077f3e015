package wintetris

// Bits are what a solver answers in a tick (rules §5).
type Bits uint8

// The five bits; left and right, and the two turns, exclude each other.
const (
	Left Bits = 1 << iota
	Right
	CW
	CCW
	Drop
	bitSets = 1 << iota // how many sets of bits there are
)

// Parts is over how many ticks the demo solver splits its search (rules §8.5).
const Parts = 4

// Toward returns the placer's bits for a piece on its way to a target's rotation and column
// (rules §8.4). It pays no attention to obstacles.
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

// A Solver is asked for bits once a tick (rules §5). f has the settled cells, now is the piece
// in play, next the one after it where it will appear; fresh is true in a piece's first
// tick. Both are valid during the call alone; f must not be changed.
type Solver interface {
	Update(f *Field, now, next Block, fresh bool) Bits
}

// Ask plays one tick with the solver's bits, as Tick does.
func (e *Engine) Ask(s Solver) (locked bool) {
	return e.Tick(s.Update(&e.Field, e.Piece, e.Upcoming(), e.New))
}
