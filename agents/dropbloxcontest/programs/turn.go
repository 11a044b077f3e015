package programs

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"blockyard/env/dropblox"
)

// How long things may take at the end of a turn.
const (
	parting = 50 * time.Millisecond  // to end by itself after closing its output
	Grace   = 500 * time.Millisecond // between being asked to end and being killed
	leaving = 250 * time.Millisecond // to read what is left, where strangers hold the pipe
)

// An Ending is why a turn was over.
type Ending int

// The endings.
const (
	Exited  Ending = iota // the program ended
	Closed                // it closed its output and went on; it was ended
	Late                  // its time was up
	Flooded               // it wrote more than anybody needs
	Stopped               // the host was told to stop
)

var endings = [...]string{"exited", "closed its output", "out of time", "too much output", "stopped"}

func (e Ending) String() string { return endings[e] }

// A Turn is what came of one turn.
type Turn struct {
	Commands []dropblox.Command
	Ending   Ending
	Elapsed  time.Duration // until nothing of the program was left
}

// Turn runs the program for one turn: with the state, as JSON, and what is left of the
// clock as arguments, for as long as that. The error says that it could not be started, or
// is that of ctx; the program is ended in either case.
func (p *Program) Turn(ctx context.Context, state []byte, left time.Duration) (Turn, error) {
	if err := ctx.Err(); err != nil {
		return Turn{Ending: Stopped}, err
	}
	began := time.Now()
	c, err := p.start(state, left)
	if err != nil {
		return Turn{}, fmt.Errorf("program %s: %w", p.Name, err)
	}
	clock := time.NewTimer(left - time.Since(began))
	defer clock.Stop()
	var t Turn
	select {
	case <-c.exited:
		t.Ending = Exited
	case <-c.heard:
		t.Ending = c.leave()
	case <-clock.C:
		t.Ending = Late
	case <-ctx.Done():
		t.Ending, err = Stopped, ctx.Err()
	}
	c.end(t.Ending)
	t.Commands, t.Elapsed = c.out.commands, time.Since(began)
	return t, err
}

// Seconds is how the time left is told: a JSON number with a decimal point.
func Seconds(left time.Duration) string { return strconv.FormatFloat(left.Seconds(), 'f', 6, 64) }

// A child is a started program.
type child struct {
	cmd    *exec.Cmd
	out    output
	pipe   *os.File
	errs   *os.File // what is read of standard error, or nil
	heard  chan struct{}
	read   chan struct{} // standard error has ended
	exited chan struct{} // the program has, and waits to be collected
}

func (p *Program) start(state []byte, left time.Duration) (*child, error) {
	args := append(append([]string{}, p.Argv[1:]...), string(state), Seconds(left))
	c := &child{
		cmd: exec.Command(p.Argv[0], args...), out: output{foreign: p.Foreign},
		heard: make(chan struct{}), read: make(chan struct{}), exited: make(chan struct{}),
	}
	c.cmd.Dir = p.Dir
	ownGroup(c.cmd)
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	c.cmd.Stdout, c.pipe = w, r
	switch to := p.Errors.(type) {
	case nil:
	case *os.File:
		c.cmd.Stderr = to
	default:
		er, ew, err := os.Pipe()
		if err != nil {
			r.Close()
			return nil, err
		}
		defer ew.Close()
		c.cmd.Stderr, c.errs = ew, er
	}
	if err := c.cmd.Start(); err != nil {
		r.Close()
		if c.errs != nil {
			c.errs.Close()
		}
		return nil, err
	}
	go func() {
		c.out.read(r)
		close(c.heard)
	}()
	go func() {
		pass(c.errs, p.Errors)
		close(c.read)
	}()
	go func() {
		awaitExit(c.cmd)
		close(c.exited)
	}()
	return c, nil
}

// maxErrors is how much standard error is passed on in a turn, in bytes.
const maxErrors = 1 << 20

// pass passes standard error on and reads it to its end.
func pass(from *os.File, to io.Writer) {
	if from == nil {
		return
	}
	_, _ = io.CopyN(to, from, maxErrors)
	_, _ = io.Copy(io.Discard, from)
}

// leave gives a program that has closed its output the moment that ending takes.
func (c *child) leave() Ending {
	if c.out.flooded {
		return Flooded
	}
	if c.gone(parting) {
		return Exited
	}
	return Closed
}

// gone waits for the program to exit.
func (c *child) gone(most time.Duration) bool {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-c.exited:
		return true
	case <-t.C:
		return false
	}
}

// end ends the program and all of its group, and reads what is left of its output.
func (c *child) end(why Ending) {
	if why != Exited {
		askGroup(c.cmd)
		c.gone(Grace)
	}
	killGroup(c.cmd)
	<-c.exited
	_ = c.cmd.Wait()
	// The group is gone, and its ends of the pipes with it; only who left the group can
	// still hold them open, and is not waited for.
	until := time.Now().Add(leaving)
	_ = c.pipe.SetReadDeadline(until)
	if c.errs != nil {
		_ = c.errs.SetReadDeadline(until)
	}
	<-c.heard
	<-c.read
	c.pipe.Close()
	if c.errs != nil {
		c.errs.Close()
	}
}
