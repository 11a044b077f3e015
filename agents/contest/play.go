package contest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"blockyard/env"
)

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

// Play reads requests from r and writes the agent's answers to w until r ends, which is no
// error. It notes everything unexpected, and answers it with a safe move: the first legal one,
// or none.
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
	action := env.None
	switch {
	case errors.Is(err, ErrOutOfSync):
		b.note("%v", err)
		action = b.first(t.Seat)
	case err != nil:
		return err
	default:
		action = b.choose(ctx, t)
	}
	_, err = io.WriteString(w, b.Codec.Answer(b.State, t.Seat, action)+"\n")
	return err
}

// choose asks the agent, within its allowance, and makes sure that the action is legal.
func (b *Bot) choose(ctx context.Context, t Turn) (action env.Action) {
	defer func() {
		if p := recover(); p != nil {
			b.note("the agent failed: %v", p)
			action = b.first(t.Seat)
		}
	}()
	if !b.State.Acting().Has(t.Seat) {
		b.note("asked to move, but this seat has no action to choose")
		return env.None
	}
	ctx, cancel := context.WithTimeout(ctx, Allowance(t))
	defer cancel()
	b.turns++
	env.View(b.View, b.State, t.Seat, b.turns)
	a, err := b.Agent.Act(ctx, b.View, t.Seat)
	if err != nil {
		b.note("the agent failed: %v", err)
		return b.first(t.Seat)
	}
	if a == env.None {
		return a
	}
	b.legal = b.State.Legal(t.Seat, b.legal[:0])
	for _, l := range b.legal {
		if l == a {
			return a
		}
	}
	b.note("the agent chose action %d, which is not legal", a)
	return b.first(t.Seat)
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
