package wintetris

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
)

const (
	columns = Width + 1 // columns that a box can be in, from minX
	minX    = -2
	actions = Rotations * columns
)

// Action returns the id of a block's rotation and column.
func (b Block) Action() env.Action { return env.Action(int(b.Rot)*columns + int(b.X) - minX) }

// target returns b with the rotation and column of an action.
func target(b Block, a env.Action) Block {
	b.Rot, b.X = uint8(a/columns), int8(a%columns)+minX
	return b
}

// A layout is a set of resting places: bit x-minX of element r is column x in rotation r.
type layout [Rotations]uint16

// open holds, by kind, the resting places in an empty field; openOnce those of them that cover
// different cells.
var open, openOnce = func() (all, once [Kinds]layout) {
	var f Field
	for k := range all {
		all[k] = places(&f, Spawn(uint8(k)), false)
		once[k] = places(&f, Spawn(uint8(k)), true)
	}
	return all, once
}()

// places returns the resting places within the field of a piece that has just appeared. If
// distinct is true, only the smallest rotation of places that cover the same cells is included.
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
		if b.Y+s.high >= Height { // it must come down at least one row
			set &= f.fits(s, int(b.Y)-1)
		}
		out[t] = uint16(set >> (margin + minX))
		if twin := &twins[b.Kind][t]; distinct {
			// Remove places where a smaller rotation covers the same cells.
			moved := uint32(out[t]) << 8 >> uint(8-twin.dx) &^ uint32(seen[twin.of])
			seen[twin.of] |= uint16(moved)
			out[t] = uint16(moved << 8 >> uint(8+twin.dx))
		}
	}
	return out
}

// layout returns the legal resting places. Mode must not be Ticks.
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
