package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"sync"
)

// stop ends the process and all that it has started, and says how it ended.
func (p *Process) stop() error {
	go func() { // discard further answers, so that listen ends
		for range p.answers {
		}
	}()
	return p.child.Kill()
}

// ended says how a process ended whose pipes are closed. Killing a process that is already
// exiting does not change its exit status.
func (p *Process) ended() error {
	err := p.stop()
	kind := "the library ended its process"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		kind = fmt.Sprintf("the library's process ended: %v", exit)
	}
	if line := p.printed.cause(); line != "" {
		kind = fmt.Sprintf("crashed (%s)", line)
	}
	return &Fault{fmt.Sprintf("%s in %s", kind, p.last.Function)}
}

// keep is half the number of bytes kept of a process's output.
const keep = 4 << 10

// A tail passes a process's output on, and keeps the end of it or, after a crash, its beginning.
type tail struct {
	to   io.Writer
	mu   sync.Mutex
	text []byte
	sent int
}

// mostPrinted is the number of bytes of output that are passed on.
const mostPrinted = 1 << 20

// Write implements io.Writer; it never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.to != nil && t.sent < mostPrinted {
		n := min(len(b), mostPrinted-t.sent)
		_, _ = t.to.Write(b[:n])
		t.sent += n
	}
	t.text = append(t.text, b...)
	if len(t.text) > 2*keep {
		t.shorten()
	}
	return len(b), nil
}

// shorten keeps the text from the first line about a crash on, or else its end.
func (t *tail) shorten() {
	from := len(t.text) - 2*keep
	if at := causes.FindIndex(t.text); at != nil {
		from = at[0]
	}
	t.text = append(t.text[:0], t.text[from:]...)
	t.text = t.text[:min(len(t.text), 2*keep)]
}

// causes matches lines in which runtimes and C libraries report a crash.
var causes = regexp.MustCompile(`(?m)^(SIG[A-Z]+: .*|fatal error: .*|panic: .*|runtime: .*|terminate called .*|` +
	`.*: Assertion .*|\*\*\* .* \*\*\*.*|free\(\): .*|malloc.*\(\): .*|double free .*|.*AddressSanitizer.*)$`)

// cause returns the line of the kept output that reports a crash, or "".
func (t *tail) cause() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return printable(bytes.TrimSpace(causes.Find(t.text)))
}
