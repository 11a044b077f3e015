package dropblox

import (
	"bytes"
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

// Turn plays a turn from a list of words (rules §5). It carries out the commands one by one and skips words that are
// not commands; "drop" or the end of the list drops the block. Nothing happens if the game is over.
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
	out.Fall, out.Rows = s.drop(&b)
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
	_, rows = s.drop(&b)
	return rows
}

// drop ends a turn with the block where the commands have led it.
func (s *State) drop(b *Block) (fall, rows int) {
	s.Begin()
	fall = b.Drop(&s.Taken)
	rows = s.settle(int(b.Type), b.Center, b.Cells())
	s.End()
	return fall, rows
}

// ActionTo returns the legal action that leads to the same board as the turn of commands that led to after.
func (s *State) ActionTo(after *State) (a env.Action, ok bool) {
	for _, a := range s.Legal(0, nil) {
		now := *s
		if now.Step(env.Alone(0, a)); now.Taken == after.Taken && now.Cells == after.Cells {
			return a, true
		}
	}
	return env.None, false
}

// Expire ends the game because its time is up (rules §9). The board does not change.
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

// A Command moves or turns a block (rules §4.2).
type Command uint8

// The five commands.
const (
	Left Command = iota
	Right
	Up
	Down
	Rotate
)

var commandWords = [...]string{"left", "right", "up", "down", "rotate"}

// String returns the command as programs write it, such as "left" (rules §4.2).
func (c Command) String() string { return commandWords[c] }

// ParseCommand reads the word of a command. Case and spaces matter.
func ParseCommand(word string) (c Command, ok bool) {
	for k, w := range commandWords {
		if w == word {
			return Command(k), true
		}
	}
	return 0, false
}

// Carry carries out a command on a block (rules §4.2), unless it is not legal, and reports whether it was.
func (c Command) Carry(b *Block, taken *Field) bool {
	moved := *b
	switch c {
	case Left:
		moved.Center.J--
	case Right:
		moved.Center.J++
	case Up:
		moved.Center.I--
	case Down:
		moved.Center.I++
	case Rotate:
		moved.rotate(1)
	}
	if !moved.Fits(taken) {
		return false
	}
	*b = moved
	return true
}

// rotate turns the block clockwise by r quarters.
func (b *Block) rotate(r int) {
	for k, o := range b.Cells() {
		switch r & 3 {
		case 1:
			o = Cell{o.J, -o.I}
		case 2:
			o = Cell{-o.I, -o.J}
		case 3:
			o = Cell{-o.J, o.I}
		}
		b.Offsets[k] = o
	}
}

// Fits reports whether the block is in a legal position (rules §4.1).
func (b *Block) Fits(taken *Field) bool {
	for _, o := range b.Cells() {
		i, j := int(b.Center.I)+int(o.I), int(b.Center.J)+int(o.J)
		if i < 0 || i >= Rows || j < 0 || j >= Cols || taken[j]>>uint(i)&1 != 0 {
			return false
		}
	}
	return true
}

// Drop moves the block down as far as possible and returns the number of rows.
func (b *Block) Drop(taken *Field) (rows int) {
	for Down.Carry(b, taken) {
		rows++
	}
	return rows
}

// MaxLine is the number of bytes of an output line that are kept.
const MaxLine = 4096

// An Output splits what a program writes into lines (rules §8.3). LF, CR and CR LF end a line; text
// after the last line end is a line too. The zero value is ready to use.
type Output struct {
	line []byte
	cr   bool // the last byte was CR: an LF that follows belongs to it
}

// Write takes the next part of the output and calls line for every line in it, cut to MaxLine bytes.
func (o *Output) Write(piece []byte, line func(text string)) {
	for len(piece) > 0 {
		if o.cr {
			o.cr = false
			if piece[0] == '\n' {
				piece = piece[1:]
				continue
			}
		}
		end := bytes.IndexAny(piece, "\r\n")
		if end < 0 {
			o.keep(piece)
			return
		}
		o.keep(piece[:end])
		o.cr = piece[end] == '\r'
		piece = piece[end+1:]
		line(string(o.line))
		o.line = o.line[:0]
	}
}

func (o *Output) keep(text []byte) {
	if room := MaxLine - len(o.line); len(text) > room {
		text = text[:room]
	}
	o.line = append(o.line, text...)
}

// Close ends the output. It calls line for a last line without a line end.
func (o *Output) Close(line func(text string)) {
	if len(o.line) > 0 {
		line(string(o.line))
	}
	*o = Output{}
}

// ReadOutput returns the commands in a program's output of a turn, and the lines that are not commands.
func ReadOutput(text string) (commands []Command, foreign []string) {
	take := func(line string) {
		if c, ok := ParseCommand(line); ok {
			commands = append(commands, c)
		} else {
			foreign = append(foreign, line)
		}
	}
	var o Output
	o.Write([]byte(text), take)
	o.Close(take)
	return commands, foreign
}
