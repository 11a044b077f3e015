package blockbattle

import (
	"math/bits"

	"blockyard/env"
	"blockyard/env/falling"
)

// Legal implements env.State: every resting place that some answer leads to, with and without a
// T-spin as two actions, and the skip if one is in stock.
//
// Every resting place can be reached without a T-spin. Where the piece can only be turned into
// its place, three corners of its box are blocks. A blocked shift then steps down instead and
// locks the piece, so that the last token is not a turn.
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

// emit appends the ids of a set of resting places in ascending order.
func emit(dst []env.Action, set *falling.Poses, piece, turns, spin int) []env.Action {
	for o := 0; o < turns; o++ {
		left := falling.Pad - pieces[piece].Left[o]
		low := pieces[piece].Low[o] - head
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

// flood finds the free poses of a piece and those that an answer can reach.
func (s *Side) flood(piece int, free, reach *falling.Poses) {
	occ := s.Cells
	ground := ^uint64(0) << uint(s.floor()+head)
	for x := 0; x < Width; x++ {
		occ[x] = occ[x]<<head | ground
	}
	p := &pieces[piece]
	if Height+p.Reach(&occ, Width, SpawnX(piece), free, reach) > MaxTokens {
		s.within(free, reach, p.Turns, SpawnX(piece))
	}
}

// spins replaces reach by the poses that a T-spin can end in (rules §6.2), and reports whether
// there are any. Without the rule NetTurn, any resting place with blocks in three corners of the
// box qualifies, because an answer can end with a turn and its reverse, or with a blocked turn.
// With NetTurn, the T must have come to the place in another orientation, by a shift or a step
// down, and have been turned there.
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
	var came falling.Poses // poses reached by something other than a turn
	for o := range came {
		for x := 1; x+1 < len(came[o]); x++ {
			came[o][x] = free[o][x] & (reach[o][x-1] | reach[o][x+1] | reach[o][x]<<1)
		}
	}
	came[0][SpawnX(T)+falling.Pad] |= 1
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

// within removes from reach the poses that need more than MaxTokens tokens. It is a breadth-first
// search on whole columns, one token per wave. Locking takes no token: a piece left where it
// rests locks by itself.
func (s *Side) within(free, reach *falling.Poses, turns, spawn int) {
	var seen, wave falling.Poses
	seen[0][spawn+falling.Pad] = 1
	wave = seen
	for n := 0; n < MaxTokens; n++ {
		var next falling.Poses
		left := uint64(0)
		for o := 0; o < turns; o++ {
			a, b := &wave[(o+1)%turns], &wave[(o+turns-1)%turns]
			for x := 1; x+1 < len(next[o]); x++ {
				v := (wave[o][x-1] | wave[o][x+1] | wave[o][x]<<1 | a[x] | b[x]) & free[o][x] &^ seen[o][x]
				next[o][x] = v
				seen[o][x] |= v
				left |= v
			}
		}
		if left == 0 {
			break
		}
		wave = next
	}
	// A blocked shift leads to no other pose: it steps down, as the token down does.
	for o := range reach {
		for x := range reach[o] {
			reach[o][x] &= seen[o][x] | falling.Fall(seen[o][x], free[o][x]) // an answer that ends in the air falls
		}
	}
}
