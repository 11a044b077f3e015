// Package trial tests a bot's executable before it is handed in. It sends the bot the requests of stored logs or of
// whole games, and checks the answers. Each contest has a Script: the list of its test games.
package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
)

// A Script lists the games that test a bot for one contest.
type Script func() ([]Game, error)

// A Game plays one test game with the bot of a trial. A breach of the protocol is an error.
type Game func(ctx context.Context, t *Trial) error

type Result struct {
	Logs, Answers int
	Longest       time.Duration // the first answer of every game included
	Mean          time.Duration // per answer
}

type Answer struct {
	State   env.State // in which the bot was asked; valid during the call only
	Seat    int
	Action  env.Action // env.None for Dropblox, whose answers are commands
	Text    string     // what the bot wrote
	Elapsed time.Duration
}

// Play plays the games with the bot that argv starts. An error, a breach of the protocol, or anything on the bot's
// standard error ends it. each receives every answer; it may be nil.
func (s Script) Play(ctx context.Context, argv []string, each func(Answer)) (Result, error) {
	games, err := s()
	if err != nil {
		return Result{}, err
	}
	t := &Trial{Argv: argv, each: each}
	for i, play := range games {
		t.late, t.waited, t.cpu = nil, 0, 0
		err := play(ctx, t)
		if err == nil && t.complaint != "" {
			err = errors.New("the bot writes to standard error: " + t.complaint)
		}
		if err != nil && t.late != nil {
			err = fmt.Errorf("%w: %s", err, t.slowness(machineLoad()))
		}
		if err != nil {
			return t.Result, fmt.Errorf("replay game %d: %w", i+1, err)
		}
		t.Logs++
	}
	if t.Answers > 0 {
		t.Mean = t.used / time.Duration(t.Answers)
	}
	return t.Result, nil
}

type Trial struct {
	Result
	Argv      []string // starts the bot
	each      func(Answer)
	used      time.Duration
	complaint string // the first line of the bot's standard error
	last      Answer

	late        *lateAnswer   // of this game
	waited, cpu time.Duration // for answers of this game, and processor time that the bot used in it
}

func (t *Trial) Start() (contest.Asker, error) {
	p, err := contest.Program{Argv: t.Argv, Cage: contest.Trusted}.Start(func(line string) {
		if t.complaint == "" {
			t.complaint = line
		}
	})
	if err != nil {
		return nil, err
	}
	return &subject{p, t}, nil
}

type lateAnswer struct{ elapsed, limit time.Duration }

// A load is how much the processors of this machine have to do.
type load struct {
	known   bool
	running float64 // mean number of programs that want a processor, over the last minute
	cores   int
}

func machineLoad() load {
	l := load{cores: runtime.NumCPU()}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, err = fmt.Sscan(string(text), &l.running)
		l.known = err == nil
	}
	return l
}

// slowness says why an answer was late: the bot was slow, or other programs had the processors. A bot of ours computes
// while it is asked, so it was kept waiting if it had the processor for less than half of the time.
func (t *Trial) slowness(l load) string {
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	measured := fmt.Sprintf("an answer took %v, want at most %v; all answers of the game took %v, and in that time the "+
		"bot had a processor for %v", ms(t.late.elapsed), ms(t.late.limit), ms(t.waited), ms(t.cpu))
	if l.known {
		measured += fmt.Sprintf("; %.1f programs on average wanted one of the %d processors", l.running, l.cores)
	}
	switch {
	case t.cpu >= t.waited/2:
		return measured + ". The bot itself is too slow: use a smaller network or a smaller --ply"
	case l.known && l.running <= float64(l.cores):
		return measured + ". The machine is not busy: the bot waits for something else"
	}
	return measured + ". The load of the machine is the cause, not the bot: run this again when other programs have ended"
}

// A subject is the process of the bot. It keeps the last answer for its trial.
type subject struct {
	contest.Asker
	trial *Trial
}

func (b *subject) Ask(ctx context.Context, lines []string, limit time.Duration) (string, bool, time.Duration, error) {
	line, cut, elapsed, err := b.Asker.Ask(ctx, lines, limit)
	b.trial.Wrote(line, elapsed)
	b.trial.waited += elapsed
	if errors.Is(err, contest.ErrLate) || err == nil && elapsed > limit {
		b.trial.late = &lateAnswer{elapsed, limit}
	}
	return line, cut, elapsed, err
}

func (b *subject) Close() error {
	err := b.Asker.Close()
	if p, ok := b.Asker.(*contest.Process); ok {
		b.trial.cpu = p.CPU()
	}
	return err
}

// Wrote keeps what the bot wrote. A game that does not use Start calls it.
func (t *Trial) Wrote(text string, elapsed time.Duration) {
	t.last = Answer{Text: text, Elapsed: elapsed}
}

// Answered counts what the bot wrote last, which is the action a of seat in s.
func (t *Trial) Answered(s env.State, seat int, a env.Action) {
	t.last.State, t.last.Seat, t.last.Action = s, seat, a
	t.Answers++
	t.used += t.last.Elapsed
	t.Longest = max(t.Longest, t.last.Elapsed)
	if t.each != nil {
		t.each(t.last)
	}
}

// Host plays a whole game of h: the bot plays seat own, and opponent the others.
func (t *Trial) Host(ctx context.Context, h contest.Host, own int, opponent Opponent) error {
	h.Start = func(seat int) (contest.Asker, error) {
		if seat == own {
			return t.Start()
		}
		return opponent, nil
	}
	h.MustStart = true
	_, err := h.Play(ctx)
	return err
}

// An Opponent answers the lines of a request in this process.
type Opponent func(lines []string) (string, error)

func (o Opponent) Ask(_ context.Context, lines []string, _ time.Duration) (string, bool, time.Duration, error) {
	line, err := o(lines)
	return line, false, 0, err
}

func (Opponent) Close() error { return nil }
