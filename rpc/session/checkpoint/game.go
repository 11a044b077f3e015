// Package checkpoint encodes the games of a handle, with the agents that play in them, and decodes them. It knows no
// session and no connection; the caller compares a checkpoint with its own batch.
package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
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
//	place     in a curriculum: its rung (2) and its last results there (1 each)
//	results   for each opponent met: its number (2), wins, draws, losses and truncated episodes (8 each)
type Game struct {
	Snapshot  []byte // of vec.Env
	Opponents []Agent
	Policy    []Agent
	Place     vec.Place
	Results   []vec.OpponentTally
}

// An Agent is one agent that plays in a saved game, with what it remembers.
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
	gameMagic = "BYC\x04"
	gameHead  = 8
	gameSum   = 4
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
		head, _ := binary.Append([]byte{uint8(p.Seat)}, binary.LittleEndian, p.At) // numbers never fail
		dst = appendPart(dst, "policy", append(head, p.Memory...))
	}
	if p := g.Place; p.Rung > 0 || len(p.Last) > 0 {
		dst = appendPart(dst, "place", append(binary.LittleEndian.AppendUint16(nil, uint16(p.Rung)), p.Last...))
	}
	if len(g.Results) > 0 {
		results, _ := binary.Append(nil, binary.LittleEndian, g.Results)
		dst = appendPart(dst, "results", results)
	}
	binary.LittleEndian.PutUint32(dst[first+4:], uint32(len(dst)-first+gameSum))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[first:], castagnoli))
}

func appendPart(dst []byte, name string, data []byte) []byte {
	dst = append(append(dst, uint8(len(name))), name...)
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(data))), data...)
}

// Cut returns the first game of b, unread, and what follows it.
func Cut(b []byte) (one, rest []byte, err error) {
	switch {
	case len(b) < gameHead+gameSum || string(b[:3]) != gameMagic[:3]:
		return nil, nil, errors.New("these bytes are none")
	case b[3] != Format:
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
	c := &cursor{b: b[gameHead:body]}
	g, known := &Game{}, false
	for len(c.b) > 0 {
		name, part := string(c.take(uint32(c.byte()))), &cursor{b: c.bytes()}
		if c.bad {
			return nil, errParts
		}
		switch {
		case name == "kind" && len(part.b) == 8:
			if known = true; part.word() != kind {
				return nil, errKind
			}
		case name == "state" && g.Snapshot == nil:
			g.Snapshot = part.b
		case name == "opponent":
			g.Opponents = append(g.Opponents, Agent{Seat: part.seat(), Number: part.short(), Memory: part.rest()})
		case name == "policy":
			g.Policy = append(g.Policy, Agent{Seat: part.seat(), At: part.episode(), Memory: part.rest()})
		case name == "place" && g.Place.Last == nil:
			g.Place = vec.Place{Rung: int(part.short()), Last: part.rest()}
		case name == "results" && g.Results == nil:
			for seen := map[uint16]bool{}; len(part.b) > 0; {
				r := part.result()
				part.bad = part.bad || seen[r.ID]
				seen[r.ID] = true
				g.Results = append(g.Results, r)
			}
		default:
			part.bad = true
		}
		switch {
		case part.bad:
			return nil, fmt.Errorf("its part %.20q is unknown, twice there or damaged", name)
		case len(g.Opponents)+len(g.Policy) > env.MaxSeats:
			return nil, errParts
		}
	}
	if !known || g.Snapshot == nil {
		return nil, errParts
	}
	return g, nil
}

// A cursor reads a game. After a failure, everything it reads is zero.
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

func (c *cursor) bytes() []byte    { return c.take(binary.LittleEndian.Uint32(c.take(4))) }
func (c *cursor) rest() []byte     { return c.take(uint32(len(c.b))) }
func (c *cursor) word() uint64     { return binary.LittleEndian.Uint64(c.take(8)) }
func (c *cursor) short() uint16    { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) byte() int        { return int(c.take(1)[0]) }
func (c *cursor) episode() Episode { return Episode{c.word(), c.word(), c.word()} }

// result reads the results against an opponent.
func (c *cursor) result() vec.OpponentTally {
	return vec.OpponentTally{ID: c.short(),
		Tally: vec.Tally{Wins: c.word(), Draws: c.word(), Losses: c.word(), Truncated: c.word()}}
}

// seat reads the number of a seat.
func (c *cursor) seat() int {
	v := c.byte()
	if v >= env.MaxSeats {
		c.bad = true
		return 0
	}
	return v
}

// Bounds on the opponents of a handle.
const (
	MostChoices   = 256            // of one seat at the same time
	MostOpponents = vec.NoOpponent // in its lifetime
	MostSpec      = 4096           // bytes of a spec
)

// A Head is what a checkpoint says of all its games together, as JSON. Games go on only in a handle
// that was opened with the same options, apart from the opponents and from those that choose what the client sees.
type Head struct {
	Format    int          `json:"format"`
	Game      string       `json:"game"`
	Rules     int          `json:"rules"`
	Seats     int          `json:"seats"`
	Players   []int        `json:"players"`
	Rows      string       `json:"rows"`
	Autoreset string       `json:"autoreset"`
	Reward    string       `json:"reward"`
	Illegal   string       `json:"illegal"`
	MaxSteps  int          `json:"max_episode_steps"`
	Opponents []string     `json:"opponents"` // specs, by number
	Mixtures  [][]Weighted `json:"mixtures"`  // by seat, of episodes to come
	Policy    string       `json:"policy"`    // of rollouts, "" for none
	// Curriculum is over the mixtures; nil for none.
	Curriculum *vec.Curriculum `json:"curriculum,omitempty"`
}

// A Weighted is an opponent's number in a mixture and its weight.
type Weighted struct {
	Number uint16  `json:"number"`
	Weight float64 `json:"weight"`
}

// Format is the version of checkpoints.
const Format = 4

// ReadHead reads a head, which must be like want but for the opponents and the policy.
func ReadHead(b []byte, want *Head) (*Head, error) {
	var version struct{ Format int }
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, fmt.Errorf("its head is no JSON: %w", err)
	}
	if version.Format != Format {
		return nil, otherVersion(version.Format)
	}
	head := new(Head)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(head); err != nil {
		return nil, fmt.Errorf("its head: %w", err)
	}
	for _, c := range []struct {
		name       string
		have, want any
	}{
		{"game", head.Game, want.Game}, {"rules version", head.Rules, want.Rules}, {"seats", head.Seats, want.Seats},
		{"driven seats", fmt.Sprint(head.Players), fmt.Sprint(want.Players)}, {"rows", head.Rows, want.Rows},
		{"autoreset mode", head.Autoreset, want.Autoreset}, {"reward", head.Reward, want.Reward},
		{"illegal", head.Illegal, want.Illegal}, {"max_episode_steps", head.MaxSteps, want.MaxSteps},
	} {
		if c.have != c.want {
			return nil, fmt.Errorf("%s is %v in the checkpoint and %v in this environment: they must be equal",
				c.name, c.have, c.want)
		}
	}
	return head, head.checkOpponents(want.Players)
}

// otherVersion is the error for a checkpoint of another version.
func otherVersion(version int) error {
	who := "an older"
	if version > Format {
		who = "a newer"
	}
	return fmt.Errorf("it has version %d of the format of checkpoints, of %s server; this one reads version %d",
		version, who, Format)
}

// checkOpponents wants different specs, and a mixture of them for every seat that is not driven.
func (head *Head) checkOpponents(driven []int) error {
	if n := len(head.Opponents); n > MostOpponents {
		return fmt.Errorf("its head has %d opponents, want up to %d", n, MostOpponents)
	}
	seen := map[string]bool{}
	for k, spec := range head.Opponents {
		if len(spec) > MostSpec || seen[spec] {
			return fmt.Errorf("its head has opponent %d, %.40q, twice or with more than %d bytes", k, spec, MostSpec)
		}
		seen[spec] = true
	}
	if len(head.Mixtures) != head.Seats {
		return fmt.Errorf("its head has mixtures for %d seats, want %d", len(head.Mixtures), head.Seats)
	}
	for seat, m := range head.Mixtures {
		if none := len(m) == 0; none != slices.Contains(driven, seat) || len(m) > MostChoices {
			return fmt.Errorf("its head has %d opponents for seat %d, want up to %d, and none for a driven seat",
				len(m), seat, MostChoices)
		}
		for _, c := range m {
			if int(c.Number) >= len(head.Opponents) {
				return fmt.Errorf("its head has opponent %d for seat %d, want less than %d", c.Number, seat, len(head.Opponents))
			}
		}
	}
	return nil
}
