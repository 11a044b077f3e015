package programs

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"blockyard/agents/contest"
	"blockyard/env/dropblox"
)

const (
	exitTime  = 50 * time.Millisecond  // to end by itself after closing its output
	Grace     = 500 * time.Millisecond // between being asked to end and being killed
	maxErrors = 1 << 20                // bytes of standard error that are passed on in a turn
)

// An Ending says why a turn was over.
type Ending int

// The endings.
const (
	Exited  Ending = iota // the program ended
	Closed                // it closed its output but did not exit
	Late                  // its time had run out
	Flooded               // it wrote too much
	Stopped               // ctx ended
)

// A Turn is the result of one turn.
type Turn struct {
	Commands []dropblox.Command
	Ending   Ending
	Elapsed  time.Duration // until its processes had ended
}

// Turn runs the program for one turn, with the state as JSON and the time left as arguments,
// for at most that time. The error says that the program could not be started, or is that of
// ctx; no process is left in either case.
func (p *Program) Turn(ctx context.Context, state []byte, left time.Duration) (Turn, error) {
	if err := ctx.Err(); err != nil {
		return Turn{Ending: Stopped}, err
	}
	began := time.Now()
	out := output{foreign: p.Foreign}
	closed := make(chan struct{})
	spec := contest.Spec{
		Argv: append(append([]string{}, p.Argv...), string(state), Seconds(left)), Dir: p.Dir,
		Stdout: func(r io.Reader) {
			out.read(r)
			close(closed)
		},
	}
	if p.Errors != nil {
		spec.Stderr = contest.PassOn(p.Errors, maxErrors)
	}
	child, err := contest.StartChild(spec)
	if err != nil {
		return Turn{}, fmt.Errorf("program %s: %w", p.Name, err)
	}
	clock := time.NewTimer(left - time.Since(began))
	defer clock.Stop()
	var t Turn
	select {
	case <-child.Exited():
		t.Ending = Exited
	case <-closed:
		t.Ending = Closed
		if out.flooded {
			t.Ending = Flooded
		} else if child.Exit(exitTime) {
			t.Ending = Exited
		}
	case <-clock.C:
		t.Ending = Late
	case <-ctx.Done():
		t.Ending, err = Stopped, ctx.Err()
	}
	if t.Ending != Exited {
		child.Terminate()
		child.Exit(Grace)
	}
	_ = child.Kill() // the exit status has no meaning
	t.Commands, t.Elapsed = out.commands, time.Since(began)
	return t, err
}

// Seconds formats the time left as a program gets it: a JSON number with a decimal point.
func Seconds(left time.Duration) string { return strconv.FormatFloat(left.Seconds(), 'f', 6, 64) }
