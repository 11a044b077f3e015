package wintetris

import "blockyard/env"

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

// list appends the resting places of a piece that are within the field, or those of
// distinct cells.
func list(f *Field, b Block, distinct bool, dst []env.Action) []env.Action {
	var buf [MaxMoves]Block
	moves := buf[:0]
	if distinct {
		moves = f.Distinct(b, moves)
	} else {
		moves = f.Moves(b, moves)
	}
	for _, m := range moves {
		if m.Inside() {
			dst = append(dst, m.Action())
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
