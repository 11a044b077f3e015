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
		became := Unknown
		if c, ok := ParseCommand(word); ok && c.Carry(&b, &s.Taken) {
			became = Applied
		} else if ok {
			became = Ignored
		}
		out.Applied = append(out.Applied, became)
	}
	out.Moved = b
	s.Begin()
	out.Fall = b.Drop(&s.Taken)
	out.Rows = s.settle(&b)
	s.End()
	return out
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
