package blockbattle

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
	"blockyard/env/falling"
)

// places is a set of resting places by their ids without the orientation: bit 20*x+y of 60 bits per
// word. The places of orientation o come at index o, and at index 4+o those with a T-spin.
type places [8][4]uint64

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
	var legal places
	n := s.legal(seat, &legal)
	for o := range legal[:n] {
		for i, set := range &legal[o] {
			for ; set != 0; set &= set - 1 {
				dst = append(dst, env.Action(o*200+i*60+bits.TrailingZeros64(set)))
			}
		}
	}
	if s.Sides[seat].Skips > 0 {
		dst = append(dst, SkipAction)
	}
	return dst
}

// MaskLegal implements env.Masker: 25 bytes for each rotation with and without a last turn, and the bit of SkipAction
// while the seat has a skip.
func (s *State) MaskLegal(seat int, mask []byte) {
	var legal places
	n := s.legal(seat, &legal)
	for o := range legal[:n] {
		w := &legal[o]
		out := mask[o*25 : o*25+25]
		binary.LittleEndian.PutUint64(out, w[0]|w[1]<<60)
		binary.LittleEndian.PutUint64(out[8:], w[1]>>4|w[2]<<56)
		binary.LittleEndian.PutUint64(out[16:], w[2]>>8|w[3]<<52)
		out[24] = uint8(w[3] >> 12)
	}
	if s.Sides[seat].Skips > 0 {
		mask[SkipAction/8] |= 1 << (SkipAction % 8)
	}
}

// legal finds the resting places that some answer leads to and returns how many elements of legal it has set.
func (s *State) legal(seat int, legal *places) int {
	side, piece := &s.Sides[seat], int(s.Piece)
	p := &pieces[piece]
	var free, reach [4]falling.Boxes
	side.flood(p, &free, &reach)
	var rest falling.Boxes
	for o := 0; o < p.Turns; o++ {
		r, f := &reach[o], &free[o]
		for i := range rest {
			rest[i] = r[i] &^ (f[i] >> 1)
		}
		legal[o] = p.Landed(o, &rest)
	}
	switch piece {
	case I, S, Z: // the same cells: one id
		for i := range legal[0] {
			legal[0][i] |= legal[2][i]
			legal[1][i] |= legal[3][i]
		}
		return 2
	case T:
		if side.spins(&free, &reach, s.Rules) {
			for o := range reach {
				legal[4+o] = p.Landed(o, &reach[o])
			}
			return 8
		}
	}
	return p.Turns
}

// flood finds the boxes of a piece that cover no cell and those of them that an answer can reach.
func (s *Side) flood(p *falling.Piece, free, reach *[4]falling.Boxes) {
	if Height+p.Reach(&s.Cells, s.floor(), free, reach) > MaxTokens {
		within(p, free, reach)
	}
}

// spins replaces reach by the boxes that a T-spin can end in (rules §6.2), and reports whether there are any. Without
// the rule NetTurn, any resting place with blocks in three corners of the box qualifies, because an answer can end
// with a turn and its reverse, or with a blocked turn. With NetTurn, the T must have come to the place in another
// orientation, by a shift or a step down, and have been turned there.
func (s *Side) spins(free, reach *[4]falling.Boxes, rules Rules) bool {
	three := falling.Of(&s.Cells)
	found := uint64(0)
	for i, l := range three {
		r := l >> 42
		if i < 3 {
			r |= three[i+1] << 21
		}
		three[i] = l&r&(l>>2^r>>2) | (l>>2)&(r>>2)&(l^r)
		for o := range reach {
			found |= three[i] & reach[o][i] &^ (free[o][i] >> 1)
		}
	}
	if found == 0 {
		return false
	}
	var came [4]falling.Boxes // reached by something other than a turn
	for o := range came {
		came[o].Beside(&reach[o])
		for i := range came[o] {
			came[o][i] = (came[o][i] | reach[o][i]<<1) & free[o][i]
		}
	}
	for i, start := range pieces[T].Start {
		came[0][i] |= start
	}
	found = 0
	for o := range came {
		l, r, across := (o+3)%4, (o+1)%4, (o+2)%4
		for i := range three {
			spin := reach[o][i] &^ (free[o][i] >> 1) & three[i]
			if rules&NetTurn != 0 {
				spin &= came[l][i] | came[r][i] | came[across][i]&(free[l][i]|free[r][i])
			}
			reach[o][i] = spin
			found |= spin
		}
	}
	return found != 0
}

// within removes from reach the boxes that need more than MaxTokens tokens. It is a breadth-first search on whole
// words, one token per wave. Locking takes no token: a piece left where it rests locks by itself.
func within(p *falling.Piece, free, reach *[4]falling.Boxes) {
	var seen, wave, next [4]falling.Boxes
	seen[0] = p.Start
	wave = seen
	left := uint64(1)
	for n := 0; n < MaxTokens && left != 0; n++ {
		left = 0
		for o := range wave[:p.Turns] {
			a, b := &wave[(o+1)%p.Turns], &wave[(o+p.Turns-1)%p.Turns]
			next[o].Beside(&wave[o])
			for i := range next[o] {
				v := (next[o][i] | wave[o][i]<<1 | a[i] | b[i]) & free[o][i] &^ seen[o][i]
				next[o][i] = v
				seen[o][i] |= v
				left |= v
			}
		}
		wave = next
	}
	// A blocked shift leads to no other box: it steps down, as the token down does.
	for o := range reach {
		for i := range reach[o] {
			reach[o][i] &= seen[o][i] | falling.Fall(seen[o][i], free[o][i]) // an answer that ends in the air falls
		}
	}
}
