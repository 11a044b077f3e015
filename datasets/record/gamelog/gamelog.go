// Package gamelog is the log of a contest's game: text for people, which package viewer shows beside the game.
//
// A line is "SEAT MARK TEXT", where SEAT is what the contest calls a seat, or the host's own. Of these, "SEAT is NAME"
// introduces a seat, "Turn N" begins a turn as records count them, and "record JSON" ends a game. A file may have
// several games, and attempts at a game that do not count.
package gamelog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"blockyard/datasets/record"
	"blockyard/datasets/record/jsonl"
	"blockyard/env"
)

// The marks of a seat's lines.
const (
	Input  = "<" // sent to the bot
	Answer = ">"
	Time   = "@" // of the answer
	Errors = "!" // standard error
	Remark = "*" // of the host
)

// Is reports whether a file is a log, by its name.
func Is(path string) bool { return strings.HasSuffix(path, ".log") }

// Prefix begins the line of a game's record.
const Prefix = "record "

// Record returns the line that ends a game.
func Record(rec *record.Record) (string, error) {
	text, err := json.Marshal(rec)
	return Prefix + string(text), err
}

// A Said is what a bot and its host said in a turn: lines, as far as they are kept.
type Said struct {
	Input   string `json:"input,omitempty"`
	Answer  string `json:"answer,omitempty"`
	Time    string `json:"time,omitempty"`
	Errors  string `json:"errors,omitempty"`
	Remarks string `json:"remarks,omitempty"`
}

func (s *Said) of(mark string) *string {
	texts := map[string]*string{
		Input: &s.Input, Answer: &s.Answer, Time: &s.Time, Errors: &s.Errors, Remark: &s.Remarks,
	}
	return texts[mark]
}

// A Turn is what was said in a turn, by seat.
type Turn [env.MaxSeats]Said

// What is kept, in bytes. Bots decide how long their lines are.
const (
	MaxText = 8 << 10  // of a Said's each text
	maxGame = 32 << 20 // of a game
)

const cut = "\n… more is in the log"

// A parser holds what is read of a game.
type parser struct {
	names []string // of the seats
	turns []Turn
	room  int
}

// Read returns the turns of the game to whose record the lines of r lead.
func Read(name string, r io.Reader) ([]Turn, error) {
	in, err := jsonl.New(name, r)
	if err != nil {
		return nil, err
	}
	var p parser
	for line, err := range in.All() {
		if err != nil {
			return p.turns, err
		}
		p.line(string(bytes.ToValidUTF8(line, []byte("�"))))
	}
	return p.turns, nil
}

func (p *parser) line(line string) {
	who, rest, _ := strings.Cut(line, " ")
	mark, text, _ := strings.Cut(rest, " ")
	seat, n := slices.Index(p.names, who), 0
	if mark == "is" && (seat == 0 || p.names == nil) { // the first attempt, or the next
		*p = parser{turns: make([]Turn, 1), room: maxGame}
	}
	switch _, err := fmt.Sscanf(line, "Turn %d", &n); {
	case p.names == nil && mark != "is":
	case mark == "is" && len(p.names) < env.MaxSeats:
		p.names = append(p.names, who)
	case err == nil && n == len(p.turns):
		p.turns = append(p.turns, Turn{})
	case seat >= 0:
		p.add(p.turns[len(p.turns)-1][seat].of(mark), text)
	}
}

// add adds a line to a text as far as there is room.
func (p *parser) add(to *string, line string) {
	if to == nil || strings.HasSuffix(*to, cut) {
		return
	}
	if *to != "" {
		line = "\n" + line
	}
	if len(line) > min(MaxText-len(*to), p.room) {
		line = cut
	}
	p.room -= len(line)
	*to += line
}
