package wintetris

import (
	"math/bits"

	"blockyard/env"
)

const (
	columns = Width + 1 // that a box can be in, from minX
	minX    = -2
	actions = Rotations * columns
)

// Action returns the id of a block's rotation and column.
func (b Block) Action() env.Action { return env.Action(int(b.Rot)*columns + int(b.X) - minX) }

// target returns a piece as an action turns and moves it.
func target(b Block, a env.Action) Block {
	b.Rot, b.X = uint8(a/columns), int8(a%columns)+minX
	return b
}

// open is what is legal while nothing is in the way, by kind.
var open, openOnce = func() (all, once [Kinds][]env.Action) {
	var f Field
	for k := range all {
		all[k] = list(&f, Spawn(uint8(k)), false, nil)
		once[k] = list(&f, Spawn(uint8(k)), true, nil)
	}
	return all, once
}()

// list appends the resting places, within the field, of a piece where it appears, or those
// of distinct cells.
func list(f *Field, b Block, distinct bool, dst []env.Action) []env.Action {
	var seen [Rotations]uint32
	for t := 0; t < Rotations; t++ {
		if t > 0 {
			if b = b.Turned(1); !f.Fits(b) {
				break // so are more turns
			}
		}
		s := &shapes[b.Kind][t]
		first, last := f.run(b)
		places := uint32(1)<<uint(last+margin+1) - 1<<uint(first+margin)
		if b.Y+s.high >= Height { // it must come down a row at least
			places &= f.fits(s, int(b.Y)-1)
		}
		if twin := &twins[b.Kind][t]; distinct {
			// Where a smaller rotation rests, this one would cover the same cells.
			moved := places << 8 >> uint(8-twin.dx) // columns of the twin
			moved &^= seen[twin.of]
			seen[twin.of] |= moved
			places = moved << 8 >> uint(8+twin.dx)
		}
		for ; places != 0; places &= places - 1 {
			dst = append(dst, Block{Rot: uint8(t), X: int8(bits.TrailingZeros32(places)) - margin}.Action())
		}
	}
	return dst
}

var everyBits = func() (out [bitSets]env.Action) {
	for i := range out {
		out[i] = env.Action(i)
	}
	return out
}()

// Legal implements env.State.
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	switch {
	case s.Over != Running || seat != 0:
		return dst
	case s.Mode == Ticks:
		return append(dst, everyBits[:]...)
	case !s.Field.Low(openFrom):
		return list(&s.Field, s.Piece, s.Mode == Instant, dst)
	case s.Mode == Instant:
		return append(dst, openOnce[s.Piece.Kind]...)
	}
	return append(dst, open[s.Piece.Kind]...)
}
