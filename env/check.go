package env

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Encode appends the fields of s in order, little-endian, without padding. They are valid for one Game.Rules.
func Encode(dst []byte, s State) ([]byte, error) {
	dst, err := binary.Append(dst, binary.LittleEndian, s)
	if err != nil {
		return dst, fmt.Errorf("encode %T: %w", s, err)
	}
	return dst, nil
}

// EncodedLen returns how many bytes Encode appends for s.
func EncodedLen(s State) int { return binary.Size(s) }

// Decode sets s to the position that Encode wrote. It returns an error, and leaves s unchanged, if src has the wrong
// length or Check refuses the position. scratch is a State of the same type to decode into.
func Decode(s, scratch State, src []byte) error {
	if want := binary.Size(s); len(src) != want {
		return fmt.Errorf("decode %T: %d bytes, want %d", s, len(src), want)
	}
	if _, err := binary.Decode(src, binary.LittleEndian, scratch); err != nil {
		return fmt.Errorf("decode %T: %w", s, err)
	}
	if err := scratch.Check(); err != nil {
		return fmt.Errorf("decode %T: %w", s, err)
	}
	s.CopyFrom(scratch)
	return nil
}

// A Checker collects the first error of a State.Check: which field has which value, and which
// values it may have. After an error its methods do nothing.
type Checker struct {
	Game string // begins the error
	In   string // the part of the state that is checked, such as "Sides[1]."
	Err  error
}

// Want notes an error if ok is false. The format names field, value and what was wanted.
func (c *Checker) Want(ok bool, format string, args ...interface{}) {
	if c.Err == nil && !ok {
		c.Err = fmt.Errorf(c.Game+": "+c.In+format, args...)
	}
}

// Range wants low ≤ v ≤ high.
func (c *Checker) Range(field string, v, low, high int) {
	c.Want(low <= v && v <= high, "%s is %d, want %d to %d", field, v, low, high)
}

// Bits wants no bits in v but those of all.
func (c *Checker) Bits(field string, v, all uint64) {
	c.Want(v&^all == 0, "%s is %#x, want no bits but those of %#x", field, v, all)
}

// Draws wants a possible queue of draws.
func (c *Checker) Draws(r *Rand) {
	c.Range("Forced", int(r.Forced), 0, MaxDraws)
	c.Range("Used", int(r.Used), 0, MaxDraws)
}

// ErrIllegal is wrapped by every error about an action that is not legal.
var ErrIllegal = errors.New("illegal action")

// Apply is Step for moves from an untrusted source. If an acting seat's choice is neither
// legal nor None, or a seat that is not acting makes a choice, Apply returns an error that
// wraps ErrIllegal and names game, seat and action. It then leaves s unchanged.
func Apply(g *Game, s State, m Moves) error {
	acting := s.Acting()
	if acting == 0 {
		return fmt.Errorf("%s: the game is over: %w", g.Name, ErrIllegal)
	}
	var legal []Action
	for seat, a := range m {
		if a == None {
			continue
		}
		if !acting.Has(seat) {
			return fmt.Errorf("%s: seat %d is not to move: %w: %s", g.Name, seat, ErrIllegal, name(g, a))
		}
		legal = s.Legal(seat, legal[:0])
		if _, ok := slices.BinarySearch(legal, a); !ok {
			return fmt.Errorf("%s: seat %d: %w: %s", g.Name, seat, ErrIllegal, name(g, a))
		}
	}
	s.Step(m)
	return nil
}

func name(g *Game, a Action) string {
	if int(a) < g.Actions {
		return g.Text(a)
	}
	return fmt.Sprintf("%d, want 0 to %d", a, g.Actions-1)
}
