// Package contest is both sides of a contest between programs, most of which exchange lines of text:
//
//   - The bot's side: a Bot reads requests, asks an agent for an action and writes its answer. A game supplies a Codec,
//     which translates between the protocol and positions.
//   - The host's side: a Program is how a bot is started, a Process a bot that plays a whole game, a Child any process
//     that is started in a Cage. A Host asks the bots of a game and measures their time. A game supplies a Referee,
//     which knows its rules and protocol, and a Contest, which names the options of its users.
//
// External makes a bot available as an env.Agent.
package contest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/env"
)

// MaxLine is the longest line that either side reads, in bytes. The rest of a longer line is discarded.
const MaxLine = 16 << 10

type Turn struct {
	Seat    int
	Budget  time.Duration // time left in the time bank; 0 if unknown
	PerMove time.Duration // added to the bank with every answer
	Turns   int           // number of answers that the budget is for, this one included; 0 if unknown
}

// A Codec implements the protocol of one contest for both sides: what one side writes, the
// other reads as the same observation or action. It keeps the state of one game in progress.
type Codec interface {
	// ReadTurn reads up to and including the next request and updates s. The error io.EOF ends the match. ErrOutOfSync
	// means that the request must be answered although s may be wrong; Turn.Seat then is the best guess.
	ReadTurn(r *bufio.Reader, s env.State) (Turn, error)
	// Answer returns the bot's answer, a line: the legal action a, or no move for env.None.
	Answer(s env.State, seat int, a env.Action) string
	// Request and Judge are the host's side: the lines of a request, and the action that any
	// answer, valid or not, stands for. They do not change s.
	Request(s env.State, t Turn) []string
	Judge(s env.State, seat int, answer string) env.Action
}

// ErrOutOfSync says that lines before a valid request contradict each other or cannot be
// parsed. Errors that wrap it say what is wrong.
var ErrOutOfSync = errors.New("out of sync with the contest")

// ErrEnded is wrapped by errors of an agent that can choose nothing any more. It ends the match of a Bot.
var ErrEnded = errors.New("the agent has ended")

// ReadLine returns the next line without its line feed and carriage return. cut says that
// the line was longer than MaxLine and was cut. The last line needs no line feed.
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

// Word splits a line at its first blank.
func Word(line string) (word, rest string) {
	if i := strings.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i+1:]
	}
	return line, ""
}

// reserve is how many answers' gain the rest of a bank should keep, for answers that a busy machine delays.
const reserve = 5

// Allowance returns the time that an agent should take for an answer: four fifths of the time that the bank gains per
// answer, and a tenth of the rest of the bank. For every answer of the reserve it is a tenth of the gain less. If the
// number of answers is known, there is no reserve, and the share of the rest is nine tenths of an equal one. The
// allowance is at most a third of the bank, or half if the bank is for this answer alone, because the pipe and the
// operating system need time too. If the bank is unknown, it is 100 ms.
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
		d += (spare - reserve*t.PerMove) / 10
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

// A Bot plays in a contest with an agent.
type Bot struct {
	Codec Codec
	Agent env.Agent
	State env.State // as the contest described it
	View  env.State // a copy for the agent: another State of the same game and number of seats
	Notes io.Writer // gets remarks; usually standard error

	legal []env.Action
	turns uint64
}

// Play reads requests from r and writes the agent's answers to w until r ends, which is no error. It notes everything
// unexpected, and answers it with a safe move: the first legal one, or none.
func (b *Bot) Play(ctx context.Context, r io.Reader, w io.Writer) error {
	in := bufio.NewReaderSize(r, MaxLine)
	for ctx.Err() == nil {
		err := b.turn(ctx, in, w)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// turn reads and answers one request. Its error ends the match.
func (b *Bot) turn(ctx context.Context, in *bufio.Reader, w io.Writer) error {
	t, err := b.Codec.ReadTurn(in, b.State)
	var action env.Action
	switch {
	case errors.Is(err, ErrOutOfSync):
		b.note("%v", err)
		action = b.first(t.Seat)
	case err != nil:
		return err
	default:
		if action, err = b.choose(ctx, t); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, b.Codec.Answer(b.State, t.Seat, action)+"\n")
	return err
}

// choose asks the agent, within its allowance, and makes sure that the action is legal. The error is that of an agent
// that has ended.
func (b *Bot) choose(ctx context.Context, t Turn) (action env.Action, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.note("the agent failed: %v", p)
			action, err = b.first(t.Seat), nil
		}
	}()
	if !b.State.Acting().Has(t.Seat) {
		b.note("asked to move, but this seat has no action to choose")
		return env.None, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Allowance(t))
	defer cancel()
	b.turns++
	env.View(b.View, b.State, t.Seat, b.turns)
	a, err := b.Agent.Act(ctx, b.View, t.Seat)
	if errors.Is(err, ErrEnded) {
		return env.None, err
	}
	if err != nil {
		b.note("the agent failed: %v", err)
		return b.first(t.Seat), nil
	}
	if a == env.None {
		return a, nil
	}
	b.legal = b.State.Legal(t.Seat, b.legal[:0])
	for _, l := range b.legal {
		if l == a {
			return a, nil
		}
	}
	b.note("the agent chose action %d, which is not legal", a)
	return b.first(t.Seat), nil
}

// first returns the first legal action of a position that may be invalid, or None.
func (b *Bot) first(seat int) (action env.Action) {
	defer func() {
		if recover() != nil {
			action = env.None
		}
	}()
	if b.State.Check() != nil {
		return env.None
	}
	b.legal = b.State.Legal(seat, b.legal[:0])
	if len(b.legal) == 0 {
		return env.None
	}
	return b.legal[0]
}

func (b *Bot) note(format string, args ...interface{}) {
	fmt.Fprintf(b.Notes, format+"\n", args...)
}
