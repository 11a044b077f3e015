package checkpoint

import (
	"encoding/binary"

	"blockyard/env"
)

// parse1 reads a game of version 1 without its first 8 bytes and its checksum. In little-endian order:
//
//	8  kind of the batch
//	4  length of the snapshot of vec.Env, and the snapshot
//	1  number of opponents, and for each: its seat (1), its number in the head (2) and its memory (4 bytes of length
//	   before it)
//	1  number of agents of the rollout policy, and for each: its seat (1), seed, episode and decisions (8 each)
//	   and its memory (4 bytes of length before it)
func parse1(b []byte, kind uint64) (*Game, error) {
	c := &cursor{b: b}
	if c.word() != kind && !c.bad {
		return nil, errKind
	}
	g := &Game{Snapshot: c.bytes()}
	for range c.below(env.MaxSeats + 1) {
		g.Opponents = append(g.Opponents, Agent{Seat: c.below(env.MaxSeats), Number: c.short(), Memory: c.bytes()})
	}
	for range c.below(env.MaxSeats + 1) {
		p := Agent{Seat: c.below(env.MaxSeats), At: Episode{c.word(), c.word(), c.word()}, Memory: c.bytes()}
		g.Policy = append(g.Policy, p)
	}
	if c.bad || len(c.b) > 0 {
		return nil, errParts
	}
	return g, nil
}

// A cursor reads version 1. After a failure, everything it reads is zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n uint32) []byte {
	if c.bad || uint64(n) > uint64(len(c.b)) {
		c.bad = true
		return make([]byte, min(n, 8))
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) bytes() []byte { return c.take(binary.LittleEndian.Uint32(c.take(4))) }

func (c *cursor) word() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }

func (c *cursor) short() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }

// below reads a byte that is less than n.
func (c *cursor) below(n int) int {
	v := int(c.take(1)[0])
	if v >= n {
		c.bad = true
		return 0
	}
	return v
}
