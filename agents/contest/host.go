package contest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Referee is one game in progress, as its host tells it and hears the answers. It
// belongs to one goroutine.
type Referee interface {
	// Names are what the bots are called, one per seat.
	Names() []string
	// Settings are the lines seat gets once.
	Settings(seat int, l Limits) []string
	// Round opens the next round and gives it a title; false when the game is over.
	Round() (title string, more bool)
	// Asked lists the seats to ask in this round, in order.
	Asked() []int
	// Request is what seat gets in this round, the request itself last, which shows what
	// its bank holds.
	Request(seat int, bank time.Duration) []string
	// Answer takes seat's line, whatever it says; ok is false where there is none. What
	// is odd about it comes back as remarks.
	Answer(seat int, line string, ok bool) (remarks []string)
	// Close ends the round in which all have answered.
	Close()
}

// An Asker is a bot that can be asked: a Process, or what stands for one in a test.
type Asker interface {
	Ask(ctx context.Context, lines []string, limit time.Duration) (line string, cut bool, elapsed time.Duration, err error)
	Close() error
}

// A Kind says what a line of a game's log is.
type Kind int

// The kinds.
const (
	ToBot   Kind = iota // sent to a bot
	FromBot             // its answer
	Error               // a line of its standard error
	Remark              // the host's own, about one bot
	Note                // the host's own
)

// A Host plays one game between bots.
type Host struct {
	Referee Referee
	Limits  Limits
	Bots    []Asker // one per seat
	// Log gets every line; seat is -1 for a Note. It may be nil.
	Log func(kind Kind, seat int, text string)

	chairs []chair
}

// A chair is what the host knows of one seat.
type chair struct {
	bank    *Bank
	opened  bool
	out     bool
	remarks int
	answers int
}

// A Tally is how one bot came through a game.
type Tally struct {
	Answers  int           `json:"answers"`
	Timeouts int           `json:"timeouts"`
	Remarks  int           `json:"remarks"` // about its answers
	Gone     bool          `json:"gone"`    // it ended early, or was ended
	Used     time.Duration `json:"used_ns"`
	Longest  time.Duration `json:"longest_ns"`
}

// Play plays the game to its end, asking one bot after the other, so that none pays for
// another's thinking. It closes the bots. The error is that of ctx.
func (h *Host) Play(ctx context.Context) ([]Tally, error) {
	h.chairs = make([]chair, len(h.Bots))
	for i := range h.chairs {
		h.chairs[i].bank = NewBank(h.Limits)
	}
	err := h.rounds(ctx)
	for _, b := range h.Bots {
		_ = b.Close()
	}
	out := make([]Tally, len(h.chairs))
	for i, c := range h.chairs {
		out[i] = Tally{c.answers, c.bank.Timeouts, c.remarks, c.out, c.bank.Used, c.bank.Longest}
	}
	return out, err
}

func (h *Host) rounds(ctx context.Context) error {
	for {
		title, more := h.Referee.Round()
		if title != "" {
			h.log(Note, -1, title)
		}
		if !more {
			return nil
		}
		for _, seat := range h.Referee.Asked() {
			line, ok, err := h.ask(ctx, seat)
			if err != nil {
				return err
			}
			for _, r := range h.Referee.Answer(seat, line, ok) {
				h.remark(seat, r)
			}
		}
		h.Referee.Close()
	}
}

func (h *Host) log(k Kind, seat int, text string) {
	if h.Log != nil {
		h.Log(k, seat, text)
	}
}

func (h *Host) remark(seat int, text string) {
	h.chairs[seat].remarks++
	h.log(Remark, seat, text)
}

// ask gets seat's answer. Its error is that of ctx; everything else is the bot's loss.
func (h *Host) ask(ctx context.Context, seat int) (line string, ok bool, err error) {
	c := &h.chairs[seat]
	if c.out {
		return "", false, ctx.Err()
	}
	lines := h.Referee.Request(seat, c.bank.Left)
	if !c.opened {
		c.opened = true
		lines = append(h.Referee.Settings(seat, h.Limits), lines...)
	}
	for _, l := range lines {
		h.log(ToBot, seat, l)
	}
	limit := c.bank.Left
	line, cut, elapsed, err := h.Bots[seat].Ask(ctx, lines, limit)
	late := errors.Is(err, ErrLate)
	if err != nil && !late && !errors.Is(err, ErrGone) {
		return "", false, err
	}
	spent := c.bank.Charge(elapsed, late)
	switch {
	case err == nil:
		c.answers++
		h.log(FromBot, seat, line)
		if cut {
			h.remark(seat, fmt.Sprintf("the answer is longer than %d bytes: the rest is not read", MaxLine))
		}
	case late:
		h.remark(seat, fmt.Sprintf("no answer within %d ms: time-out %d", limit.Milliseconds(), c.bank.Timeouts))
		if spent {
			h.end(seat, "no more time-outs are allowed: the bot is ended")
		}
	default:
		h.end(seat, "the bot has ended or closed its output: it has no more moves")
	}
	return line, err == nil, nil
}

// end takes a bot out of the game.
func (h *Host) end(seat int, why string) {
	h.chairs[seat].out = true
	h.remark(seat, why)
	_ = h.Bots[seat].Close()
}
