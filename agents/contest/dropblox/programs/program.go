// Package programs runs the programs that play Dropblox. A program is started for every turn,
// with the state as JSON and the remaining seconds as arguments, and writes one command per
// line. Rules §8 and §9 say when a turn ends and which output counts.
//
// A program cannot block its host or make it use unlimited memory: the time, the number of commands and the size of the
// output are limited, and the program's process group is killed at the end of the turn.
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

// A Program says how to start a player. Its Argv is without the two arguments of a turn; Argv[0] is absolute.
type Program struct {
	contest.Program
	Name   string    // as the user gave it
	Errors io.Writer // gets standard error, up to a limit in every turn; nil discards it
	// Foreign is called with every line of output that is not a command, from another
	// goroutine, but never after Turn has returned. It may be nil.
	Foreign func(line string)
}

// Limits of one turn's output. A program that exceeds MaxCommands or maxOutput is ended.
const (
	MaxCommands = 1 << 16  // commands
	maxOutput   = 16 << 20 // bytes in all
	maxShown    = 64 << 10 // bytes of lines that are not commands
)

// An output parses a program's output.
type output struct {
	foreign  func(line string) // gets the lines that are not commands; may be nil
	commands []dropblox.Command
	flooded  bool

	lines dropblox.Output
	total int
	shown int
}

// read reads to the end, or up to the limits.
func (o *output) read(r io.Reader) {
	buf := make([]byte, 4096)
	for !o.flooded {
		n, err := r.Read(buf)
		if o.total += n; o.total > maxOutput {
			o.flooded = true
		}
		o.lines.Write(buf[:n], o.line)
		if err != nil {
			break
		}
	}
	o.lines.Close(o.line)
}

func (o *output) line(text string) {
	c, ok := dropblox.ParseCommand(text)
	switch {
	case ok && len(o.commands) < MaxCommands:
		o.commands = append(o.commands, c)
	case ok:
		o.flooded = true
	case o.foreign != nil && o.shown <= maxShown:
		o.foreign(text)
		if o.shown += len(text) + 1; o.shown > maxShown {
			o.foreign("(more of this is not shown)")
		}
	}
}

const (
	exitTime  = time.Second            // to end by itself after closing its output: a busy machine takes its time
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

// Turn runs the program for one turn, with the state as JSON and the time left as arguments, for at most that time. The
// error says that the program could not be started, or is that of ctx; no process is left in either case.
func (p *Program) Turn(ctx context.Context, state []byte, left time.Duration) (Turn, error) {
	if err := ctx.Err(); err != nil {
		return Turn{Ending: Stopped}, err
	}
	began := time.Now()
	out := output{foreign: p.Foreign}
	closed := make(chan struct{})
	spec := contest.Spec{
		Argv: append(append([]string{}, p.Argv...), string(state), Seconds(left)), Dir: p.Dir,
		Memory: p.Memory, Isolate: true, Cage: p.Cage,
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
