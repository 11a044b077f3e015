package submit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
)

// Replayed sums up how a bot answered in a replay.
type Replayed struct {
	Logs, Answers int
	Longest       time.Duration // the first answer of every game included
	Mean          time.Duration // per answer
}

// An Answer is one answer of the bot.
type Answer struct {
	State   env.State // in which the bot was asked; valid during the call only
	Seat    int
	Action  env.Action // env.None for Dropblox, whose answers are commands
	Text    string     // what the bot wrote
	Elapsed time.Duration
}

// A script lists the games that test a bot for one contest: stored logs, or whole games if no logs are stored.
type script func() ([]game, error)

// A game plays itself to the bot of a trial. A breach of the protocol is an error.
type game func(ctx context.Context, t *trial) error

// replay plays a script to the bot that argv starts. An error, a breach of the protocol, or anything on the
// bot's standard error ends it. each gets every answer; it may be nil.
func (s script) replay(ctx context.Context, argv []string, each func(Answer)) (Replayed, error) {
	games, err := s()
	if err != nil {
		return Replayed{}, err
	}
	t := &trial{argv: argv, each: each}
	for i, play := range games {
		err := play(ctx, t)
		if err == nil && t.complaint != "" {
			err = errors.New("the bot writes to standard error: " + t.complaint)
		}
		if err != nil {
			return t.Replayed, fmt.Errorf("replay game %d: %w", i+1, err)
		}
		t.Logs++
	}
	if t.Answers > 0 {
		t.Mean = t.used / time.Duration(t.Answers)
	}
	return t.Replayed, nil
}

// A trial is a replay in progress.
type trial struct {
	Replayed
	argv      []string
	each      func(Answer)
	used      time.Duration
	complaint string // the first line of the bot's standard error
	last      Answer
}

// start starts the bot.
func (t *trial) start() (*subject, error) {
	p, err := contest.Start(t.argv, func(line string) {
		if t.complaint == "" {
			t.complaint = line
		}
	})
	if err != nil {
		return nil, err
	}
	return &subject{p, t}, nil
}

// answered counts the bot's last answer, which was the action a of seat in s.
func (t *trial) answered(s env.State, seat int, a env.Action) {
	t.last.State, t.last.Seat, t.last.Action = s, seat, a
	t.Answers++
	t.used += t.last.Elapsed
	if t.last.Elapsed > t.Longest {
		t.Longest = t.last.Elapsed
	}
	if t.each != nil {
		t.each(t.last)
	}
}

// A subject is the process of the bot under test. It keeps the last answer for its trial.
type subject struct {
	contest.Asker
	trial *trial
}

// Ask implements contest.Asker.
func (b *subject) Ask(ctx context.Context, lines []string, limit time.Duration) (string, bool, time.Duration, error) {
	line, cut, elapsed, err := b.Asker.Ask(ctx, lines, limit)
	b.trial.last = Answer{Text: line, Elapsed: elapsed}
	return line, cut, elapsed, err
}

// host plays a whole game of h: the bot plays seat own, and opponent the others.
func (t *trial) host(ctx context.Context, h contest.Host, own int, opponent partner) error {
	h.Start = func(seat int) (contest.Asker, error) {
		if seat == own {
			return t.start()
		}
		return opponent, nil
	}
	h.MustStart = true
	_, err := h.Play(ctx)
	return err
}

// A partner is a bot in this process, which answers the lines of a request.
type partner func(lines []string) (string, error)

// Ask implements contest.Asker.
func (p partner) Ask(_ context.Context, lines []string, _ time.Duration) (string, bool, time.Duration, error) {
	line, err := p(lines)
	return line, false, 0, err
}

// Close implements contest.Asker.
func (partner) Close() error { return nil }
