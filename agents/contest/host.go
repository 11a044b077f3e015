package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Asker is a bot that can be asked: a Process, or a stand-in for one.
type Asker interface {
	Ask(ctx context.Context, lines []string, limit time.Duration) (line string, cut bool, elapsed time.Duration, err error)
	Close() error
}

type Kind int

// The kinds of lines.
const (
	ToBot   Kind = iota // sent to a bot
	FromBot             // its answer
	Time                // how long the bot took, and how long it was given
	Error               // a line of its standard error
	Remark              // the host's own, about one bot
	Note                // the host's own
	Over                // the game is over: what a bot still writes does not belong to its last answer
)

// A Host plays one game between bots. It starts them, asks them one after the other, so that
// they do not compete for the processor, and measures their time.
type Host struct {
	Referee Referee
	Limits  Limits
	Clock   Clock                         // of the bots
	Start   func(seat int) (Asker, error) // starts the bot of a seat
	// StartOnTurn starts a bot when its first request is due, as part of the time for its
	// answer. Otherwise all bots start before the game.
	StartOnTurn bool
	// MustStart makes Play fail if a bot does not start. Otherwise that is a Fault.
	MustStart bool
	Hint      string // what to check about a bot that never answers; "" for nothing
	// Log receives every line, from the goroutine of Play; seat is -1 for a Note and for Over. It may be nil.
	Log func(kind Kind, seat int, text string)

	seats []seatState
}

// A Tally sums up one bot's part in a game.
type Tally struct {
	Bank
	Time    Usage // whose the time of all answers was, if the bot says so
	Answers int
	Remarks int      // about its answers
	Unread  int      // answers of which nothing could be read
	Example string   // the first of these, or else the first answer with a remark, and the remark
	Odd     []string // what else was odd about its output, each once
	Gone    bool     // it ended early, or was ended
}

// Habits says what was odd about a bot's output, and gives an example of an answer with a remark.
func (t *Tally) Habits() []string {
	if t.Example == "" {
		return t.Odd
	}
	return append(slices.Clone(t.Odd), example+t.Example)
}

const example = "a remark, such as "

// AddHabits adds the habits of another game: each once, one example, and five in all.
func AddHabits(list, more []string) []string {
	for _, text := range more {
		known := slices.ContainsFunc(list, func(s string) bool {
			return s == text || strings.HasPrefix(s, example) && strings.HasPrefix(text, example)
		})
		if len(list) < 5 && !known {
			list = append(list, text)
		}
	}
	return list
}

type seatState struct {
	Tally
	bot     Asker // nil if it is not started
	started bool  // or failed to
	ended   bool  // by itself, so that what it said last is why
}

// Play plays the game to its end and closes the bots. The error is that of ctx, of a bot that did not start, or
// ErrStalled if a bot could not be timed, and the game is void.
func (h *Host) Play(ctx context.Context) ([]Tally, error) {
	h.seats = make([]seatState, len(h.Referee.Names()))
	var err error
	for seat := range h.seats {
		h.seats[seat].Bank = NewBank(h.Limits)
		if err == nil && !h.StartOnTurn {
			err = h.start(seat)
		}
	}
	if err == nil {
		err = h.rounds(ctx)
	}
	h.log(Over, -1, "")
	tallies := make([]Tally, len(h.seats))
	for i := range h.seats {
		s := &h.seats[i]
		if s.bot != nil {
			_ = s.bot.Close()
		}
		if s.started && s.Answers == 0 && h.Hint != "" && err == nil && !s.ended {
			s.odd(h, i, h.Hint)
		}
		tallies[i] = s.Tally
	}
	return tallies, err
}

func (s *seatState) odd(h *Host, seat int, text string) {
	h.log(Remark, seat, text)
	if !slices.Contains(s.Odd, text) {
		s.Odd = append(s.Odd, text)
	}
}

func (h *Host) start(seat int) error {
	bot, err := h.Start(seat)
	h.seats[seat].started = true
	if err == nil {
		h.seats[seat].bot = bot
	} else if !h.MustStart {
		h.log(Error, seat, err.Error())
		err = nil
	}
	return err
}

func (h *Host) rounds(ctx context.Context) error {
	for {
		title, seats := h.Referee.Round()
		if title != "" {
			h.log(Note, -1, title)
		}
		if len(seats) == 0 {
			return ctx.Err()
		}
		for _, seat := range seats {
			if err := h.turn(ctx, seat); err != nil {
				return err
			}
		}
		for _, c := range h.Referee.Close() {
			h.log(Remark, c.Seat, c.Text)
		}
	}
}

func (h *Host) log(k Kind, seat int, text string) {
	if h.Log != nil {
		h.Log(k, seat, text)
	}
}

// turn asks a seat and gives its reply to the referee. The error is that of ctx or ErrStalled; all other failures are
// the bot's.
func (h *Host) turn(ctx context.Context, seat int) error {
	s := &h.seats[seat]
	reply := Reply{Fault: Out, Bank: &s.Bank}
	if !s.Gone {
		req := h.Referee.Request(seat, s.Left)
		var err error
		if reply, err = h.ask(ctx, seat, req); err != nil || req.Last {
			return err
		}
	} else if err := ctx.Err(); err != nil {
		return err
	}
	remarks, out := h.Referee.Answer(seat, reply)
	unread := false
	if r, ok := h.Referee.(Reader); ok && reply.Fault == NoFault && !r.Reads(seat, reply.Line) {
		s.Unread++
		unread = s.Unread == 1
	}
	for k, text := range remarks {
		if s.Remarks++; reply.Fault == NoFault && (s.Remarks == 1 || unread && k == 0) {
			s.Example = fmt.Sprintf("%.60q: %s", reply.Line, text)
		}
		h.log(Remark, seat, text)
	}
	if (out || reply.Ended) && !s.Gone {
		s.Gone = true
		if s.bot != nil {
			_ = s.bot.Close()
		}
	}
	return nil
}

// ask sends a request to a seat, after starting its bot if need be, and waits for the reply.
func (h *Host) ask(ctx context.Context, seat int, req Request) (r Reply, err error) {
	s := &h.seats[seat]
	began := time.Now()
	var starting time.Duration
	if !s.started {
		if err := h.start(seat); err != nil {
			return r, err
		}
		if h.Clock != Fair { // what the bot itself does at its start is part of its answer
			starting = time.Since(began)
		}
	}
	r = Reply{Limit: req.Limit, Bank: &s.Bank}
	if r.Limit == 0 && !req.Last {
		r.Limit = s.Limit()
	}
	if s.bot == nil {
		r.Fault = Missing
		return r, ctx.Err()
	}
	for _, l := range req.Lines {
		h.log(ToBot, seat, l)
	}
	line, cut, elapsed, err := s.bot.Ask(ctx, req.Lines, r.Limit-starting)
	if req.Last {
		return r, nil
	}
	if p, ok := s.bot.(interface{ Odd(err error) []string }); ok {
		for _, text := range p.Odd(err) {
			s.odd(h, seat, text)
		}
	}
	r.Line, r.Elapsed = line, max(elapsed, 0)+starting
	switch {
	case errors.Is(err, ErrLate), err == nil && r.Elapsed > r.Limit:
		r.Fault = Late
	case errors.Is(err, ErrGone):
		r.Fault, s.ended = Gone, true
	case err != nil && !errors.Is(err, ErrStalled): // of ctx
		return r, err
	case cut:
		r.Fault = TooLong
	}
	if r.Fault == NoFault || r.Fault == TooLong {
		h.log(FromBot, seat, line)
	}
	took := fmt.Sprintf("%.3f ms of %.3f ms", 1000*r.Elapsed.Seconds(), 1000*r.Limit.Seconds())
	if p, ok := s.bot.(interface{ Used() Usage }); ok {
		s.Time.add(p.Used())
		took += "; " + p.Used().String()
	}
	h.log(Time, seat, took)
	if errors.Is(err, ErrStalled) {
		return r, err
	}
	if req.Limit == 0 {
		if r.Fault == NoFault || r.Fault == TooLong {
			s.Answers++
		}
		r.Ended = s.Charge(r.Elapsed, r.Fault == Late)
	}
	return r, nil
}

// Limits is the time control of a contest: an answer uses up a bot's bank, which gains PerMove after every answer.
type Limits struct {
	Bank      time.Duration // at the start
	PerMove   time.Duration // added after every answer
	Most      time.Duration // upper limit of a bank that gains time; 0 means Bank
	Tolerance time.Duration // extra time for an answer, which requests do not show
	Timeouts  int           // a bot is ended after this many time-outs; 0 leaves that to the Referee
}

// FixedPerMove returns Limits with one time for the first answer and another for each later one.
func FixedPerMove(first, later, tolerance time.Duration) Limits {
	return Limits{Bank: first, PerMove: later, Most: later, Tolerance: tolerance}
}

// TotalBudget returns Limits with one time for all answers of a game together.
func TotalBudget(d time.Duration) Limits { return Limits{Bank: d} }

// OneBudget reports whether all answers of a game share one time.
func (l Limits) OneBudget() bool { return l.Bank > 0 && l.PerMove == 0 && l.Most == 0 }

type Bank struct {
	Limits
	Left     time.Duration // time left, as the next request shows it
	Timeouts int           // so far
	Used     time.Duration // for all answers
	Longest  time.Duration // for one answer
}

func NewBank(l Limits) Bank { return Bank{Limits: l, Left: l.Bank} }

// Limit is how long the host waits for the next answer.
func (b *Bank) Limit() time.Duration { return b.Left + b.Tolerance }

// Charge subtracts an answer's time, or counts a time-out, and reports whether that was the last one permitted.
func (b *Bank) Charge(elapsed time.Duration, late bool) (out bool) {
	elapsed = max(elapsed, 0)
	b.Used += elapsed
	b.Longest = max(b.Longest, elapsed)
	if b.Left -= elapsed; late || b.Left < 0 {
		b.Left = 0
	}
	b.Left = min(b.Left+b.PerMove, cmp.Or(b.Most, b.Bank))
	if late {
		b.Timeouts++
	}
	return b.Limits.Timeouts > 0 && b.Timeouts >= b.Limits.Timeouts
}
