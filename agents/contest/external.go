package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockyard/env"
)

// externalTime is the time that an external agent has for an answer if ctx has no deadline.
const externalTime = 10 * time.Second

// A Greeter is a Codec of a contest in which a bot gets ready before the first request.
type Greeter interface {
	// Greet returns what to send to the bot of a seat, and the time to answer.
	Greet(s env.State, seat int) (lines []string, limit time.Duration)
	// Greeted returns an error if line does not say that the bot is ready.
	Greeted(line string) error
}

// An ExternalAgent is an env.Agent that asks a bot. The first call of Act starts the bot.
// If the bot misses the deadline, the agent plays None; if the bot has ended, Act fails.
type ExternalAgent struct {
	codec   Codec
	program Program
	process *Process
}

var _ env.Agent = (*ExternalAgent)(nil)

// External returns an agent that runs the bot p. The agent talks to it through c, which
// nothing else may use. Close the agent after use.
func External(c Codec, p Program) *ExternalAgent { return &ExternalAgent{codec: c, program: p} }

// Act implements env.Agent.
func (e *ExternalAgent) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if e.process == nil {
		if err := e.start(ctx, s, seat); err != nil {
			return env.None, err
		}
	}
	limit := externalTime
	if at, ok := ctx.Deadline(); ok {
		limit = time.Until(at)
	}
	lines := e.codec.Request(s, Turn{Seat: seat, Budget: limit, PerMove: limit})
	line, _, _, err := e.process.Ask(ctx, lines, limit)
	if errors.Is(err, ErrLate) || errors.Is(err, context.DeadlineExceeded) {
		return env.None, nil
	}
	if err != nil {
		return env.None, fmt.Errorf("%s: %w", strings.Join(e.program.Argv, " "), err)
	}
	return e.codec.Judge(s, seat, line), nil
}

// start starts the bot and waits until it is ready.
func (e *ExternalAgent) start(ctx context.Context, s env.State, seat int) (err error) {
	if e.process, err = e.program.Start(nil); err != nil {
		return err
	}
	if greeter, ok := e.codec.(Greeter); ok {
		lines, limit := greeter.Greet(s, seat)
		line, _, _, err := e.process.Ask(ctx, lines, limit)
		if err = cmp.Or(err, greeter.Greeted(line)); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(e.program.Argv, " "), err)
		}
	}
	return nil
}

// Close ends the bot.
func (e *ExternalAgent) Close() error {
	if e.process == nil {
		return nil
	}
	return e.process.Close()
}
