package library

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"blockyard/agents/contest"
)

// stop ends the process and all that it has started, and says how it ended.
func (p *Process) stop() error {
	go func() { // discard further answers, so that listen ends
		for range p.answers {
		}
	}()
	return p.child.Kill()
}

// ended says how a process ended that has closed its pipes. To kill a process that is already exiting does not change
// its exit status.
func (p *Process) ended() error {
	err := p.stop()
	kind := "the library ended its process"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		kind = fmt.Sprintf("the library's process ended: %v", exit)
	}
	if p.printed.cause != "" { // stop has waited for the readers
		kind = fmt.Sprintf("crashed (%s)", p.printed.cause)
	}
	return &Fault{fmt.Sprintf("%s in %s", kind, p.last.Function)}
}

// mostPrinted is the number of bytes of output that are passed on.
const mostPrinted = 1 << 20

// An output is what a process prints: it is passed on, and the first line that reports a crash is
// kept.
type output struct {
	to    io.Writer // nil discards it
	mu    sync.Mutex
	sent  int
	cause string
}

// read reads one of the process's two outputs to its end.
func (o *output) read(r io.Reader) {
	in := bufio.NewReader(io.TeeReader(r, o))
	for {
		line, _, err := contest.ReadLine(in)
		if err != nil {
			return
		}
		if causes.MatchString(line) {
			o.mu.Lock()
			o.cause = cmp.Or(o.cause, printable([]byte(strings.TrimSpace(line))))
			o.mu.Unlock()
		}
	}
}

// Write implements io.Writer; it never fails.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to != nil {
		n, _ := o.to.Write(b[:min(len(b), mostPrinted-o.sent)])
		o.sent += n
	}
	return len(b), nil
}

// causes matches lines in which runtimes and C libraries report a crash.
var causes = regexp.MustCompile(`^(SIG[A-Z]+: .*|fatal error: .*|panic: .*|runtime: .*|terminate called .*|` +
	`.*: Assertion .*|\*\*\* .* \*\*\*.*|free\(\): .*|malloc.*\(\): .*|double free .*|.*AddressSanitizer.*)$`)
