package contest

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// Odd says in words for the bot's author what was odd since it last was asked, or why it did not answer: err is that of
// Ask. How a program has ended is known after its outputs are read.
func (p *Process) Odd(err error) (out []string) {
	p.mu.Lock()
	partial, extra := p.partial, p.extra
	if p.told {
		extra = 0
	}
	p.told = p.told || extra > 0
	p.mu.Unlock()
	if extra > 0 {
		out = append(out, "writes more lines than it is asked for: only the first line after a request is its answer")
	}
	switch {
	case errors.Is(err, ErrLate) && partial > 0:
		out = append(out, fmt.Sprintf("no answer, but %d bytes without a line end: end the line and flush", partial))
	case errors.Is(err, ErrLate):
		out = append(out, "no answer: not a byte has arrived since the request; a program that answers must flush")
	case errors.Is(err, ErrGone) && p.child.Exit(leaveTime):
		out = append(out, "the program has ended: "+ending(p.child.Kill()))
	case errors.Is(err, ErrGone):
		out = append(out, "the program has closed its output but not ended")
	}
	return out
}

// ending says how a program has ended, from what Child.Kill returns.
func ending(err error) string {
	exit := new(exec.ExitError)
	if err == nil || !errors.As(err, &exit) {
		return "exit status 0"
	}
	if code := exit.ExitCode(); code > 128 && code < 160 {
		signal := syscall.Signal(code - 128)
		return fmt.Sprintf("signal %d (%v)", int(signal), signal)
	}
	return exit.String()
}
