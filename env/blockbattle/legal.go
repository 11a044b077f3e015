package blockbattle

import (
	"math/bits"

	"blockyard/env"
	"blockyard/env/falling"
)

// Legal implements env.State: every resting place some answer leads to, a T-spin and a
// plain arrival kept apart, and a skip when one is in stock.
//
// A plain arrival is always possible where the piece can rest: where it can only be turned
// in, three corners of its box are blocks, so that a shift to one side is refused, steps
// down instead and locks the piece without a turn as its last token.
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	if s.Over {
		return dst
	}
	side, piece := &s.Sides[seat], int(s.Piece)
	var free, reach falling.Poses
	side.flood(piece, &free, &reach)
	p := &pieces[piece]
	turns := p.Turns
	var rest falling.Poses
	for o := 0; o < turns; o++ {
		for x := range rest[o] {
			rest[o][x] = reach[o][x] &^ (free[o][x] >> 1)
		}
	}
	spins := piece == T && side.spins(&free, &reach, &rest, s.Rules)
	if piece == I || piece == S || piece == Z { // the same cells: one id
		turns = 2
		for x := range rest[0] {
			rest[0][x] |= rest[2][x] << 1
			if x > 0 {
				rest[1][x-1] |= rest[3][x]
			}
		}
	}
	dst = emit(dst, &rest, piece, turns, 0)
	if spins {
		dst = emit(dst, &reach, piece, turns, 1) // spins left them in reach
	}
	if side.Skips > 0 {
		dst = append(dst, SkipAction)
	}
	return dst
}

// emit appends the ids of a set of resting poses in ascending order.
func emit(dst []env.Action, set *falling.Poses, piece, turns, spin int) []env.Action {
	for o := 0; o < turns; o++ {
		left := falling.Pad + -minX[piece][o]
		low := maxY[piece][o] - head
		for x := 0; x < Width; x++ {
			if x+left < 0 || x+left >= len(set[o]) {
				continue
			}
			for m := set[o][x+left]; m != 0; m &= m - 1 {
				dst = append(dst, action(spin, o, x, bits.TrailingZeros64(m)+low))
			}
		}
	}
	return dst
}

// flood finds the free poses of a piece and those an answer can reach from spawn.
func (s *Side) flood(piece int, free, reach *falling.Poses) {
	occ := s.Cells
	ground := ^uint64(0) << uint(s.floor()+head)
	for x := 0; x < Width; x++ {
		occ[x] = occ[x]<<head | ground
	}
	p := &pieces[piece]
	if Height+p.Reach(&occ, Width, spawnX(piece), free, reach) > MaxTokens {
		s.within(free, reach, p.Turns, spawnX(piece))
	}
}

// spins finds the poses a T-spin can end in (rules §6), leaves them in reach and reports
// whether there are any. Without the demand for a net turn, any resting place with three
// blocks in its corners will do: a turn and its undoing, or a refused turn, may end the
// answer. With it the T must have come to the place in another orientation, by a shift or
// a step, and have been turned on the spot.
func (s *Side) spins(free, reach, rest *falling.Poses, rules Rules) bool {
	var three [len(free[0])]uint64
	found := uint64(0)
	for x := 0; x+2 < Width; x++ {
		l, r := s.Cells[x]<<head, s.Cells[x+2]<<head
		three[x+falling.Pad] = l&r&(l>>2^r>>2) | (l>>2)&(r>>2)&(l^r)
		found |= three[x+falling.Pad]
	}
	if found == 0 {
		return false
	}
	found = 0
	var came falling.Poses // by something else than a turn
	for o := range came {
		for x := 1; x+1 < len(came[o]); x++ {
			came[o][x] = free[o][x] & (reach[o][x-1] | reach[o][x+1] | reach[o][x]<<1)
		}
	}
	came[0][spawnX(T)+falling.Pad] |= 1
	for o := range came {
		l, r, across := (o+3)%4, (o+1)%4, (o+2)%4
		for x := range three {
			spin := rest[o][x] & three[x]
			if rules&NetTurn != 0 {
				spin &= came[l][x] | came[r][x] | came[across][x]&(free[l][x]|free[r][x])
			}
			reach[o][x] = spin
			found |= spin
		}
	}
	return found != 0
}
