package contest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	Greeted(line string) error // an error if line does not say that the bot is ready
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

func (e *ExternalAgent) start(ctx context.Context, s env.State, seat int) (err error) {
	if e.process, err = e.program.Start(nil); err != nil {
		return err
	}
	if err := Speak(e.codec, seat, e.program.Dialect); err != nil {
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

func (e *ExternalAgent) Close() error {
	if e.process == nil {
		return nil
	}
	return e.process.Close()
}

// A Program says how to start a bot. The fields are those of Spec; without a cage it does not start.
type Program struct {
	Argv   []string
	Dir    string
	Memory int64
	Cage   Cage

	Dialect string // of the contest's protocol that the bot speaks; "" is that of the contest
}

// A Player is a program that plays, with its names.
type Player struct {
	Program
	Name  string // to show
	Agent string // what records say that it is
}

// Start starts the bot. Each line of its standard error goes to errs, which is called from another
// goroutine, up to a limit; nil discards them.
func (p Program) Start(errs func(line string)) (*Process, error) {
	if errs == nil {
		errs = func(string) {}
	}
	bot := &Process{answer: make(chan struct{}, 1)}
	spec := Spec{
		Argv: p.Argv, Dir: p.Dir, Memory: p.Memory, Cage: p.Cage, Input: true, Stdout: bot.listen,
		Stderr: func(r io.Reader) {
			PassLines(r, func(line string) {
				if !obeys(line) {
					fmt.Fprintln(&bot.last, line)
					errs(line)
				}
			})
		},
		Excess: bot.ended,
	}
	var err error
	if bot.child, err = StartChild(spec); err != nil {
		return nil, fmt.Errorf("start bot: %w", err)
	}
	bot.meter = bot.child
	return bot, nil
}
