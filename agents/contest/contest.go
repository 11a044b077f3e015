// Package contest is both ends of a contest played by programs that talk in lines: the
// bot's loop (Play), and the referee's side, which runs other people's programs on a time
// bank (Process, Host, External).
//
// A game brings a Codec, which turns its dialogue into positions and actions, and, to be
// hosted, a Referee.
package contest

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"time"

	"blockyard/env"
)

// MaxLine is the longest line either end takes, in bytes; the rest of a longer one is
// thrown away.
const MaxLine = 16 << 10

// A Turn is a request to move.
type Turn struct {
	Seat    int
	Budget  time.Duration // what is left in the time bank; 0 if the contest did not say
	PerMove time.Duration // what the bank gains with every answer
	Turns   int           // how many answers, this one among them, the budget is for; 0 if nobody knows
}

// A Codec speaks one contest's dialogue, both ends of it: what one end writes the other
// reads back as the same observation and the same action. It belongs to one game in
// progress.
type Codec interface {
	// ReadTurn brings s up to date from what the contest tells the bot, up to the next
	// request. io.EOF ends the match. ErrOutOfSync means that an answer is due all the
	// same, though s cannot be relied on; Turn.Seat then is the best guess.
	ReadTurn(r *bufio.Reader, s env.State) (Turn, error)
	// WriteMove writes the bot's answer; env.None is the answer without a move.
	WriteMove(w io.Writer, s env.State, seat int, a env.Action) error
	// WriteTurn and ReadMove are the referee's end. ReadMove takes the first line for
	// the answer, whatever it says.
	WriteTurn(w io.Writer, s env.State, t Turn) error
	ReadMove(r *bufio.Reader, s env.State, seat int) (env.Action, error)
}

// ErrOutOfSync says that what the contest told makes no sense, before a request that does.
// Errors that wrap it say what is wrong.
var ErrOutOfSync = errors.New("out of sync with the contest")

// ReadLine returns the next line without its line feed and carriage return. cut says that
// it was longer than MaxLine and is not whole. An unfinished line at the end counts.
func ReadLine(r *bufio.Reader) (line string, cut bool, err error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if room := MaxLine - len(text); len(part) > room && strings.TrimRight(string(part[room:]), "\r\n") != "" {
			part, cut = part[:room], true
		}
		text = append(text, part...)
		switch {
		case err == nil || err == io.EOF && len(text) > 0:
			return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), cut, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", cut, err
		}
	}
}

// Allowance is how long an answer may take to think: at the pace at which the bank fills,
// and a tenth of what is in it beyond that, or this answer's share if their number is known,
// but never more than a third of it, or half if it is for this answer alone. It leaves the
// rest to the pipe, the operating system and bad luck.
func Allowance(t Turn) time.Duration {
	if t.Budget <= 0 {
		return 100 * time.Millisecond
	}
	d := t.PerMove * 4 / 5
	spare := t.Budget - t.PerMove
	switch {
	case spare <= 0:
	case t.Turns > 0:
		d += spare * 9 / 10 / time.Duration(t.Turns)
	default:
		d += spare / 10
	}
	most := t.Budget / 3
	if t.Turns == 1 {
		most = t.Budget / 2
	}
	if d > most {
		d = most
	}
	return d
}
