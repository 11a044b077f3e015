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
	go func() { // what is still answered is discarded, so that listen ends
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
	return &Fault{fmt.Sprintf("%s in %s", kind, p.doing)}
}

// keep is half of how much of what a process prints is kept at most.
const keep = 4 << 10

// A tail passes what a process prints on, and keeps the last of it or, of a crash, the first.
type tail struct {
	to   io.Writer
	mu   sync.Mutex
	text []byte
	sent int
}

// mostPrinted is how much of what a process prints is passed on.
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

// shorten keeps the first of the text from where it tells a crash, or the last.
func (t *tail) shorten() {
	from := len(t.text) - 2*keep
	if at := causes.FindIndex(t.text); at != nil {
		from = at[0]
	}
	t.text = append(t.text[:0], t.text[from:]...)
	t.text = t.text[:min(len(t.text), 2*keep)]
}

// causes are lines by which runtimes and C libraries tell a crash.
var causes = regexp.MustCompile(`(?m)^(SIG[A-Z]+: .*|fatal error: .*|panic: .*|runtime: .*|terminate called .*|` +
	`.*: Assertion .*|\*\*\* .* \*\*\*.*|free\(\): .*|malloc.*\(\): .*|double free .*|.*AddressSanitizer.*)$`)

// cause is the line of what was printed last that tells a crash, "" if there is none.
func (t *tail) cause() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return printable(bytes.TrimSpace(causes.Find(t.text)))
}
