package tetrisduelbot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// ReadyTime is how long a bot may take to say that it is ready (rules §13).
const ReadyTime = 10 * time.Second

// choiceTime is what an Outsider has for a choice where nobody set a deadline.
const choiceTime = 10 * time.Second

// An Outsider is an env.Agent that is somebody else's program, for one game. It starts
// with the first choice; Close ends it. A program that misses the deadline, or whose
// answer is not in the list, plays None; one that has ended is an error.
type Outsider struct {
	argv    []string
	process *contest.Process
}

// External runs argv as a player.
func External(argv ...string) *Outsider { return &Outsider{argv: argv} }

// Act implements env.Agent.
func (o *Outsider) Act(ctx context.Context, state env.State, seat int) (env.Action, error) {
	s := state.(*tetrisduel.State)
	if o.process == nil {
		if err := o.start(ctx, s, seat); err != nil {
			return env.None, err
		}
	}
	limit := choiceTime
	if at, ok := ctx.Deadline(); ok {
		limit = time.Until(at)
	}
	line, _, _, err := o.process.Ask(ctx, Request(s, limit, true), limit)
	if errors.Is(err, contest.ErrLate) || errors.Is(err, context.DeadlineExceeded) {
		return env.None, nil
	}
	if err != nil {
		return env.None, fmt.Errorf("%s: %w", strings.Join(o.argv, " "), err)
	}
	a, _ := Judge(s, line)
	return a, nil
}

func (o *Outsider) start(ctx context.Context, s *tetrisduel.State, seat int) error {
	p, err := contest.Start(o.argv, nil)
	if err != nil {
		return err
	}
	o.process = p
	line, _, _, err := p.Ask(ctx, Greeting(s, seat, DefaultTime), ReadyTime)
	if err == nil && !Ready(line) {
		err = fmt.Errorf("said %.40q instead of %s", line, wordReady)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(o.argv, " "), err)
	}
	return nil
}

// Close ends the program.
func (o *Outsider) Close() error {
	if o.process == nil {
		return nil
	}
	return o.process.Close()
}
