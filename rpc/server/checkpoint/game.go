// Package checkpoint encodes the games of a handle, with the agents that play in them, and decodes them. It knows no
// session and no connection; the caller compares a checkpoint with its own batch.
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
//	n  a list of named parts, each: length of its name (1), its name, length of its data (4), its data
//	4  CRC-32C of all bytes before
//
// The parts, in this order:
//
//	kind      the kind of the batch (8): its game, rules version and number of seats
//	state     the snapshot of vec.Env
//	opponent  for each: its seat (1), its number in the head (2), its memory
//	policy    for each agent of the rollout policy: its seat (1), seed, episode and decisions (8 each), its memory
//
// Games of version 1 are read as well; see parse1.
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
	gameMagic = "BYC\x02"
	gameHead  = 8
	gameSum   = 4

	opponentHead = 1 + 2         // of the data of an opponent, before its memory
	policyHead   = 1 + 8 + 8 + 8 // of the data of an agent of the policy
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errParts is the error for bytes with a right checksum that no server writes.
var errParts = errors.New("its parts do not fit together")

// errKind is the error for a game of another batch.
var errKind = errors.New("it is of another game, rules version or number of seats")

// Append appends g, a game of a batch of that kind, as bytes.
func (g *Game) Append(dst []byte, kind uint64) []byte {
	first := len(dst)
	dst = append(dst, gameMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, 0) // the length, below
	dst = appendPart(dst, "kind", binary.LittleEndian.AppendUint64(nil, kind))
	dst = appendPart(dst, "state", g.Snapshot)
	for _, o := range g.Opponents {
		head := binary.LittleEndian.AppendUint16([]byte{uint8(o.Seat)}, o.Number)
		dst = appendPart(dst, "opponent", append(head, o.Memory...))
	}
	for _, p := range g.Policy {
		head := []byte{uint8(p.Seat)}
		for _, v := range [...]uint64{p.At.Seed, p.At.Episode, p.At.Decisions} {
			head = binary.LittleEndian.AppendUint64(head, v)
		}
		dst = appendPart(dst, "policy", append(head, p.Memory...))
	}
	binary.LittleEndian.PutUint32(dst[first+4:], uint32(len(dst)-first+gameSum))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[first:], castagnoli))
}

// appendPart appends a named part.
func appendPart(dst []byte, name string, data []byte) []byte {
	dst = append(append(dst, uint8(len(name))), name...)
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(data))), data...)
}

// cutPart returns the first named part of b and what follows it.
func cutPart(b []byte) (name string, data, rest []byte, err error) {
	at := 1 + int(b[0])
	if len(b) < at+4 {
		return "", nil, nil, errParts
	}
	n := uint64(binary.LittleEndian.Uint32(b[at:]))
	if uint64(len(b)) < uint64(at)+4+n {
		return "", nil, nil, errParts
	}
	end := at + 4 + int(n)
	return string(b[1:at]), b[at+4 : end : end], b[end:], nil
}

// Cut returns the first game of b, unread, and what follows it.
func Cut(b []byte) (one, rest []byte, err error) {
	switch {
	case len(b) < gameHead+gameSum || string(b[:3]) != gameMagic[:3]:
		return nil, nil, errors.New("these bytes are none")
	case b[3] < oldest || b[3] > Format:
		return nil, nil, otherVersion(int(b[3]))
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n < gameHead+gameSum || uint64(n) > uint64(len(b)) {
		return nil, nil, fmt.Errorf("it is cut off: it has %d of its %d bytes", len(b), n)
	}
	return b[:n], b[n:], nil
}

// Parse reads a game of a batch of that kind, which Cut returned. The result shares memory with b.
func Parse(b []byte, kind uint64) (*Game, error) {
	body := len(b) - gameSum
	if crc32.Checksum(b[:body], castagnoli) != binary.LittleEndian.Uint32(b[body:]) {
		return nil, errors.New("its checksum is wrong: it is damaged")
	}
	if b[3] == 1 {
		return parse1(b[gameHead:body], kind)
	}
	g, known := &Game{}, false
	for rest := b[gameHead:body]; len(rest) > 0; {
		name, data, more, err := cutPart(rest)
		if err != nil {
			return nil, err
		}
		rest = more
		switch {
		case name == "kind" && len(data) == 8:
			if known = true; binary.LittleEndian.Uint64(data) != kind {
				return nil, errKind
			}
		case name == "state" && g.Snapshot == nil:
			g.Snapshot = data
		case name == "opponent" && len(data) >= opponentHead && data[0] < env.MaxSeats:
			g.Opponents = append(g.Opponents,
				Agent{Seat: int(data[0]), Number: binary.LittleEndian.Uint16(data[1:]), Memory: data[opponentHead:]})
		case name == "policy" && len(data) >= policyHead && data[0] < env.MaxSeats:
			word := func(at int) uint64 { return binary.LittleEndian.Uint64(data[at:]) }
			g.Policy = append(g.Policy,
				Agent{Seat: int(data[0]), At: Episode{word(1), word(9), word(17)}, Memory: data[policyHead:]})
		default:
			return nil, fmt.Errorf("its part %.20q is unknown, twice there or damaged", name)
		}
		if len(g.Opponents)+len(g.Policy) > env.MaxSeats {
			return nil, errParts
		}
	}
	if !known || g.Snapshot == nil {
		return nil, errParts
	}
	return g, nil
}
