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
