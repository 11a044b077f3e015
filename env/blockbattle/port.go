package blockbattle

import (
	"crypto/sha1"
	"encoding/binary"
)

// A PortStream is the random generator of the port (rules §17): from the same seed string it
// draws the same pieces and holes in the same order.
type PortStream struct {
	state [sha1.Size]byte
	out   [sha1.Size]byte
	used  int
}

// NewPortStream starts the stream of a seed string.
func NewPortStream(seed string) *PortStream {
	return &PortStream{state: sha1.Sum([]byte(seed)), used: sha1.Size}
}

// next returns 31 bits.
func (p *PortStream) next() uint32 {
	var word [4]byte
	for i := range word {
		if p.used == len(p.out) {
			p.refill()
		}
		word[i] = p.out[p.used]
		p.used++
	}
	return binary.BigEndian.Uint32(word[:]) >> 1
}

func (p *PortStream) refill() {
	p.out, p.used = sha1.Sum(p.state[:]), 0
	carry, changed := int32(1), false
	for i := range p.state {
		v := int32(int8(p.state[i])) + int32(int8(p.out[i])) + carry
		changed = changed || byte(v) != p.state[i]
		p.state[i] = byte(v)
		carry = v >> 8
	}
	if !changed {
		p.state[0]++
	}
}

// Draw returns a number below n, which must not be a power of two.
func (p *PortStream) Draw(n uint32) uint16 {
	for {
		u := p.next()
		r := u % n
		if int64(u)-int64(r)+int64(n)-1 <= 1<<31-1 {
			return uint16(r)
		}
	}
}

// Piece draws a piece.
func (p *PortStream) Piece() uint16 { return p.Draw(Pieces) }

// Row draws the one or two holes of a garbage row, as draws for State.Force.
func (p *PortStream) Row(dst []uint16, two bool) []uint16 {
	dst = append(dst, p.Draw(10))
	if two {
		dst = append(dst, p.Draw(9))
	}
	return dst
}
