package blockbattlelog

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"math"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// A stream is the port's seeded source of pieces and holes (rules §17).
type stream struct {
	state [sha1.Size]byte
	block [sha1.Size]byte
	used  int
}

func newStream(seed string) *stream {
	return &stream{state: sha1.Sum([]byte(seed)), used: sha1.Size}
}

func (s *stream) bits() uint32 {
	var four [4]byte
	for i := range four {
		if s.used == len(s.block) {
			s.next()
		}
		four[i] = s.block[s.used]
		s.used++
	}
	return binary.BigEndian.Uint32(four[:]) >> 1
}

func (s *stream) next() {
	s.block, s.used = sha1.Sum(s.state[:]), 0
	carry, changed := 1, false
	for i := range s.state {
		v := int(int8(s.state[i])) + int(int8(s.block[i])) + carry
		changed = changed || s.state[i] != byte(v)
		s.state[i], carry = byte(v), v>>8
	}
	if !changed {
		s.state[0]++
	}
}

// draw is the next outcome below n.
func (s *stream) draw(n int) int {
	for {
		u := int(s.bits())
		if r := u % n; u-r+n-1 <= math.MaxInt32 {
			return r
		}
	}
}

// dealt compares the game's pieces and holes with what its seed deals.
func (g *game) dealt(seed string) {
	s := newStream(seed)
	piece := func() string { return blockbattle.Letters[s.draw(blockbattle.Pieces):][:1] }
	g.t.At(func() string { return fmt.Sprintf("game %s, dealt from its seed", id(g.rec.ID)) })
	conform.Same(g.t, "first piece", g.rec.Rounds[0].Piece, piece())
	for i := range g.rec.Rounds {
		r := &g.rec.Rounds[i]
		g.t.At(func() string { return fmt.Sprintf("game %s, round %d, dealt from its seed", id(g.rec.ID), r.Round) })
		conform.Same(g.t, "next", r.Next, piece())
		for seat := range r.P {
			if r.P[seat].Holes == nil {
				continue
			}
			var dealt [][]int
			for _, row := range *r.P[seat].Holes {
				holes := []int{s.draw(blockbattle.Width)}
				if len(row) == 2 {
					holes = append(holes, (holes[0]+1+s.draw(blockbattle.Width-1))%blockbattle.Width)
				}
				dealt = append(dealt, holes)
			}
			conform.Same(g.t, "holes of "+player(seat), recordedHoles(*r.P[seat].Holes), recordedHoles(dealt))
		}
	}
}
