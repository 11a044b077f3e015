// Package checkpoint is the games of a handle, with the agents that play in them, as bytes and back. It knows no
// session and no connection; whoever reads a checkpoint compares it with a handle of its own.
package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"blockyard/env"
)

// A Game is one game of a checkpoint, with the agents that play in it. As bytes, in little-endian order:
//
//	4  "BYC" and the version of this format
//	4  length of the whole
//	8  kind of the handle: its game, rules version and number of seats
//	4  length of the snapshot of vec.Env, and the snapshot
//	1  number of opponents, and for each: its seat (1), its number in the head (2) and its memory (4 bytes of length
//	   before it)
//	1  number of agents of the rollout policy, and for each: its seat (1), seed, episode and decisions (8 each)
//	   and its memory (4 bytes of length before it)
//	4  CRC-32C of all bytes before
type Game struct {
	Snapshot  []byte // of vec.Env
	Opponents []Agent
	Policy    []Agent
}

// An Agent is an agent of a Game.
type Agent struct {
	Seat   int
	Number uint16  // of an opponent
	At     Episode // of the policy
	Memory []byte
}

// An Episode is the episode that an agent of a policy plays.
type Episode struct {
	Seed, Episode uint64 // of the game
	Decisions     uint64 // made in this episode
}

const (
	gameMagic = "BYC\x01"
	gameHead  = 16
	gameSum   = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends g, a game of a handle of that kind, as bytes.
func (g *Game) Append(dst []byte, kind uint64) []byte {
	first := len(dst)
	dst = append(dst, gameMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, 0) // the length, below
	dst = binary.LittleEndian.AppendUint64(dst, kind)
	dst = appendBytes(dst, g.Snapshot)
	dst = append(dst, uint8(len(g.Opponents)))
	for _, o := range g.Opponents {
		dst = binary.LittleEndian.AppendUint16(append(dst, uint8(o.Seat)), o.Number)
		dst = appendBytes(dst, o.Memory)
	}
	dst = append(dst, uint8(len(g.Policy)))
	for _, p := range g.Policy {
		dst = append(dst, uint8(p.Seat))
		for _, v := range [...]uint64{p.At.Seed, p.At.Episode, p.At.Decisions} {
			dst = binary.LittleEndian.AppendUint64(dst, v)
		}
		dst = appendBytes(dst, p.Memory)
	}
	binary.LittleEndian.PutUint32(dst[first+4:], uint32(len(dst)-first+gameSum))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[first:], castagnoli))
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// Cut returns the first game of b, unread, and what follows it.
func Cut(b []byte) (one, rest []byte, err error) {
	switch {
	case len(b) < gameHead+gameSum || string(b[:3]) != gameMagic[:3]:
		return nil, nil, errors.New("these bytes are none")
	case b[3] != gameMagic[3]:
		return nil, nil, otherVersion(int(b[3]))
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n < gameHead+gameSum || uint64(n) > uint64(len(b)) {
		return nil, nil, fmt.Errorf("it is cut off: it has %d of its %d bytes", len(b), n)
	}
	return b[:n], b[n:], nil
}

// Parse reads a game of a handle of that kind. The result shares memory with b.
func Parse(b []byte, kind uint64) (*Game, error) {
	body := len(b) - gameSum
	switch {
	case crc32.Checksum(b[:body], castagnoli) != binary.LittleEndian.Uint32(b[body:]):
		return nil, errors.New("its checksum is wrong: it is damaged")
	case binary.LittleEndian.Uint64(b[8:]) != kind:
		return nil, errors.New("it is of another game, rules version or number of seats")
	}
	c := &cursor{b: b[gameHead:body]}
	g := &Game{Snapshot: c.bytes()}
	for range c.below(env.MaxSeats + 1) {
		g.Opponents = append(g.Opponents, Agent{Seat: c.below(env.MaxSeats), Number: c.short(), Memory: c.bytes()})
	}
	for range c.below(env.MaxSeats + 1) {
		p := Agent{Seat: c.below(env.MaxSeats), At: Episode{c.word(), c.word(), c.word()}, Memory: c.bytes()}
		g.Policy = append(g.Policy, p)
	}
	if c.bad || len(c.b) > 0 {
		return nil, errors.New("its parts do not fit together")
	}
	return g, nil
}

// A cursor reads what Game.Append wrote. After a failure, everything it reads is zero.
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
