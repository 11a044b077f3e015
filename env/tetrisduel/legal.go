package tetrisduel

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
	"blockyard/env/falling"
)

const (
	Actions  = Directions * Reachable * Width // the number of action ids
	maxLegal = 300
	within   = 1<<Reachable - 1 // rows that the mover's blocks can reach, as bits
)

// A Placement is the resting place of a block's centre, in the mover's frame.
type Placement struct{ Y, X, D int }

// Action returns the placement's id.
func (p Placement) Action() env.Action { return env.Action(p.D*Width*Reachable + p.X*Reachable + p.Y) }

// At returns the placement of an id.
func At(a env.Action) Placement {
	rest := int(a) % (Reachable * Width)
	return Placement{rest % Reachable, rest / Reachable, int(a) / (Reachable * Width)}
}

// Placements appends to dst, in ascending order, the ids of the places where block kind (0..6) can
// come to rest on a board in the mover's frame (rules §4). Unless repeat is true, it lists
// placements that cover the same cells once.
func Placements(board *falling.Field, kind int, repeat bool, dst []env.Action) []env.Action {
	var rest [Directions]places
	cells := pack(board)
	forms[kind].rest(&cells, &rest)
	if !repeat {
		forms[kind].distinct(&rest)
	}
	return list(&rest, dst)
}

// list appends the ids of placements.
func list(rest *[Directions]places, dst []env.Action) []env.Action {
	for d := range rest {
		for i, set := range rest[d].dense() {
			for ; set != 0; set &= set - 1 {
				dst = append(dst, env.Action(d*Width*Reachable+i*4*Reachable+bits.TrailingZeros64(set)))
			}
		}
	}
	return dst
}

// Legal implements env.State.
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	if s.Reason != Running || seat != s.Mover() {
		return dst
	}
	var rest [Directions]places
	s.legal(&rest)
	return list(&rest, dst)
}

// MaskLegal implements env.Masker.
func (s *State) MaskLegal(_ int, mask []byte) {
	var rest [Directions]places
	s.legal(&rest)
	word, at := uint64(0), uint(0) // a word of the mask, and its length so far
	for d := range rest {
		for i, set := range rest[d].dense() {
			word |= set << at
			length := uint(4 * Reachable)
			if i == len(places{})-1 {
				length = Width % 4 * Reachable
			}
			if at += length; at >= 64 {
				binary.LittleEndian.PutUint64(mask, word)
				mask, at = mask[8:], at-64
				word = set >> (length - at)
			}
		}
	}
	binary.LittleEndian.PutUint64(mask, word)
}

// legal finds the mover's placements. rest must be empty.
func (s *State) legal(rest *[Directions]places) {
	cells, block := s.mover()
	block.rest(&cells, rest)
	block.distinct(rest)
}

// open reports whether the mover has a placement.
func (s *State) open() bool {
	cells, block := s.mover()
	return block.open(&cells)
}

// mover returns the cells that the mover's block can reach, and the block.
func (s *State) mover() (places, *block) {
	block := &forms[s.Block(int(s.Turn))]
	if s.Mover() == 1 {
		return packTurned(&s.Cells), block
	}
	return pack(&s.Cells), block
}

// Ordered returns placements in the order of the contest's list: y descending, then x and d ascending.
func Ordered(ids []env.Action) []Placement {
	var rows [Reachable][Width]uint8
	for _, a := range ids {
		p := At(a)
		rows[p.Y][p.X] |= 1 << p.D
	}
	out := make([]Placement, 0, len(ids))
	for y := Reachable - 1; y >= 0; y-- {
		for x, set := range rows[y] {
			for ; set != 0; set &= set - 1 {
				out = append(out, Placement{y, x, bits.TrailingZeros8(set)})
			}
		}
	}
	return out
}
