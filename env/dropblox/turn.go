package dropblox

import (
	"fmt"

	"blockyard/env"
)

// A Played is the outcome of a turn of commands.
type Played struct {
	Moved   Block  // after the commands, before the drop
	Applied []int8 // what became of each word
	Fall    int    // rows of the drop
	Rows    int    // rows removed
}

// What became of a word, in Played.Applied.
const (
	Unknown int8 = iota - 1 // not a command: skipped
	Ignored                 // the position after it would not be legal
	Applied
	Dropped // the word "drop", which ends the list
)

// Turn plays a turn from a list of words (rules §4). It carries out the commands one by one and
// skips words that are not commands; "drop" or the end of the list drops the block. Nothing
// happens if the game is over.
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

// Play plays a turn of commands and returns the number of rows removed. It does not allocate.
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

// Expire ends the game because its time is up (rules §8). The board does not change.
func (s *State) Expire() { s.Failed = true }

// Path appends to dst the shortest list of commands, without the drop, that plays a legal action.
func (s *State) Path(a env.Action, dst []Command) ([]Command, error) {
	b := s.Block(0)
	shape := NewShape(&b)
	dst, ok := shape.Path(&s.Taken, At(a), dst)
	if !ok {
		return dst, fmt.Errorf("dropblox: no commands lead to %s", Text(a))
	}
	return dst, nil
}

// A Deal gives a game its blocks from a list of types, for tests and fair contests: the block in
// play, the preview and the draw of each turn.
type Deal struct {
	Types []uint16
	next  int
}

// Start begins a game with the first blocks of the list, which must have at least Known elements,
// all below Types.
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

// Ready makes the coming turn draw the next block of the list. Call it before every turn. It
// returns false when the list is used up; the generator then draws.
func (d *Deal) Ready(s *State) bool {
	if d.next >= len(d.Types) {
		return false
	}
	s.Force(d.Types[d.next : d.next+1])
	d.next++
	return true
}
