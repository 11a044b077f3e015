package dropblox

import (
	"fmt"

	"blockyard/env"
)

// A Played is what a turn led by commands came to.
type Played struct {
	Moved   Block // after the commands, before the drop
	Applied []int8
	Fall    int // rows of the drop
	Rows    int // rows removed
}

// What became of a word, in Played.Applied.
const (
	Unknown int8 = iota - 1 // no command: passed over
	Ignored                 // the position after it would not be legal
	Applied
	Dropped // the word "drop", which ends the list
)

// Turn plays a turn from a list of words (rules §4): commands are carried out one by one,
// words that are none passed over, and "drop" or the end of the list drops the block. A
// game that is over stays as it is.
func (s *State) Turn(words ...string) Played {
	if s.Failed {
		return Played{Moved: s.Block(0)}
	}
	b := s.Block(0)
	var out Played
	for _, word := range words {
		if word == "drop" {
			out.Applied = append(out.Applied, Dropped)
			break
		}
		out.Applied = append(out.Applied, lead(&b, &s.Taken, word))
	}
	out.Moved = b
	s.Begin()
	out.Fall = b.Drop(&s.Taken)
	out.Rows = s.settle(&b)
	s.End()
	return out
}

func lead(b *Block, taken *Field, word string) int8 {
	c, ok := ParseCommand(word)
	switch {
	case !ok:
		return Unknown
	case c.Carry(b, taken):
		return Applied
	}
	return Ignored
}

// Play plays a turn from commands and returns the rows removed. It allocates nothing.
func (s *State) Play(commands []Command) (rows int) {
	if s.Failed {
		return 0
	}
	b := s.Block(0)
	for _, c := range commands {
		c.Carry(&b, &s.Taken)
	}
	s.Begin()
	b.Drop(&s.Taken)
	rows = s.settle(&b)
	s.End()
	return rows
}

// Expire ends the game because its time is over (rules §8): the board is not touched.
func (s *State) Expire() { s.Failed = true }

// Path appends to dst the shortest list of commands, without the drop, for a legal action.
func (s *State) Path(a env.Action, dst []Command) ([]Command, error) {
	b := s.Block(0)
	shape := NewShape(&b)
	dst, ok := shape.Path(&s.Taken, At(a), dst)
	if !ok {
		return dst, fmt.Errorf("dropblox: no commands lead to %s", Text(a))
	}
	return dst, nil
}

// A Deal gives a game its blocks from a list of types, for tests and fair contests: the
// block in play, the preview and what is drawn after each turn.
type Deal struct {
	Types []uint16
	next  int
}

// Start begins a game with the first blocks of the list: Known types at least, all below
// Types.
func (d *Deal) Start(s *State) error {
	if len(d.Types) < Known {
		return fmt.Errorf("dropblox: a list of %d types, want at least %d", len(d.Types), Known)
	}
	for k, t := range d.Types {
		if t >= Types {
			return fmt.Errorf("dropblox: type %d in place %d of the list, want 0 to %d", t, k, Types-1)
		}
	}
	first := append([]uint16{d.Types[0], 0}, d.Types[1:Known]...)
	s.Force(first)
	s.Reset(0)
	d.next = Known
	return nil
}

// Ready makes the coming turn draw the list's next block; call it before every turn. When
// the list is used up it reports false, and the game's generator goes on.
func (d *Deal) Ready(s *State) bool {
	if d.next >= len(d.Types) {
		return false
	}
	s.Force(d.Types[d.next : d.next+1])
	d.next++
	return true
}
