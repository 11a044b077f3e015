package wintetris

import (
	"encoding/binary"
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

// A layout is a set of resting places: bit x-minX of an element is column x in that rotation.
type layout [Rotations]uint16

// open is what is legal while nothing is in the way, by kind, or of that what covers
// distinct cells.
var open, openOnce = func() (all, once [Kinds]layout) {
	var f Field
	for k := range all {
		all[k] = places(&f, Spawn(uint8(k)), false)
		once[k] = places(&f, Spawn(uint8(k)), true)
	}
	return all, once
}()

// places are the resting places, within the field, of a piece where it appears; with
// distinct, of those that cover the same cells only that of the smallest rotation.
func places(f *Field, b Block, distinct bool) (out layout) {
	var seen layout
	for t := 0; t < Rotations; t++ {
		if t > 0 {
			if b = b.Turned(1); !f.Fits(b) {
				break // so are more turns
			}
		}
		s := &shapes[b.Kind][t]
		first, last := f.run(b)
		set := uint32(1)<<uint(last+margin+1) - 1<<uint(first+margin)
		if b.Y+s.high >= Height { // it must come down a row at least
			set &= f.fits(s, int(b.Y)-1)
		}
		out[t] = uint16(set >> (margin + minX))
		if twin := &twins[b.Kind][t]; distinct {
			// Where a smaller rotation rests, this one would cover the same cells.
			moved := uint32(out[t]) << 8 >> uint(8-twin.dx) &^ uint32(seen[twin.of])
			seen[twin.of] |= uint16(moved)
			out[t] = uint16(moved << 8 >> uint(8+twin.dx))
		}
	}
	return out
}

// layout is what is legal, in a mode of places.
func (s *State) layout() layout {
	switch once := s.Mode == Instant; {
	case !s.Field.Low(openFrom):
		return places(&s.Field, s.Piece, once)
	case once:
		return openOnce[s.Piece.Kind]
	}
	return open[s.Piece.Kind]
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
	}
	for r, set := range s.layout() {
		for ; set != 0; set &= set - 1 {
			dst = append(dst, env.Action(r*columns+bits.TrailingZeros16(set)))
		}
	}
	return dst
}

// MaskLegal implements env.Masker.
func (s *State) MaskLegal(_ int, mask []byte) {
	word := uint64(1<<bitSets - 1)
	if s.Mode != Ticks {
		word = 0
		for r, set := range s.layout() {
			word |= uint64(set) << uint(r*columns)
		}
	}
	binary.LittleEndian.PutUint64(mask, word)
}
