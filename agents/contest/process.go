package contest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	maxChatter = 64 << 20 // bytes a bot may write beside its answers in one game
	maxErrors  = 1 << 20  // bytes of standard error kept of one game
	maxErrLine = 4 << 10  // bytes of one line of it
	leaveTime  = 300 * time.Millisecond
	readTime   = time.Second // to read what is written, beside the time to answer
)

// ErrLate says that no answer came in time, ErrGone that the program has ended or closed
// its output.
var (
	ErrLate = errors.New("no answer in time")
	ErrGone = errors.New("the program has ended")
)

// A Process is a program that is asked in lines and answers in lines. It has a process
// group of its own, which Close ends whole.
type Process struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	errs   *os.File
	answer chan struct{} // signalled when line is set or the output ends
	done   sync.WaitGroup
	once   sync.Once

	mu      sync.Mutex
	waiting bool
	line    string
	cut     bool
	arrived time.Time
	gone    bool
}

// Start runs argv. Every line of its standard error goes to errs, from another goroutine,
// until there are too many; nil throws them away.
func Start(argv []string, errs func(line string)) (*Process, error) {
	if len(argv) == 0 {
		return nil, errors.New("start bot: no command")
	}
	p := &Process{answer: make(chan struct{}, 1), cmd: exec.Command(argv[0], argv[1:]...)}
	ends, err := pipes(3)
	if err != nil {
		return nil, fmt.Errorf("start bot: %w", err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = ends[0], ends[3], ends[5]
	p.in, p.out, p.errs = ends[1], ends[2], ends[4]
	ownGroup(p.cmd)
	err = p.cmd.Start()
	for _, f := range []*os.File{ends[0], ends[3], ends[5]} {
		f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{p.in, p.out, p.errs} {
			f.Close()
		}
		return nil, fmt.Errorf("start bot: %w", err)
	}
	if errs == nil {
		errs = func(string) {}
	}
	p.done.Add(2)
	go p.listen()
	go p.keepErrors(errs)
	return p, nil
}

// pipes opens n pipes: reading end, writing end, and so on.
func pipes(n int) ([]*os.File, error) {
	var ends []*os.File
	for i := 0; i < n; i++ {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range ends {
				f.Close()
			}
			return nil, err
		}
		ends = append(ends, r, w)
	}
	return ends, nil
}

// Ask writes lines and waits, at most limit from then on, for the first line that begins
// and ends after they were written; whatever came before is thrown away. cut says that
// the line was longer than MaxLine. The error is ErrLate, ErrGone or that of ctx.
func (p *Process) Ask(ctx context.Context, lines []string, limit time.Duration) (line string, cut bool, elapsed time.Duration, err error) {
	select {
	case <-p.answer:
	default:
	}
	p.mu.Lock()
	p.waiting = true
	p.line, p.cut = "", false
	gone := p.gone
	p.mu.Unlock()
	if gone {
		return "", false, 0, ErrGone
	}
	_ = p.in.SetWriteDeadline(time.Now().Add(limit + readTime))
	defer context.AfterFunc(ctx, func() { _ = p.in.SetWriteDeadline(time.Now()) })()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		if ctx.Err() != nil {
			return "", false, 0, ctx.Err()
		}
		return "", false, 0, ErrGone
	}
	sent := time.Now()
	clock := time.NewTimer(limit)
	defer clock.Stop()
	select {
	case <-p.answer:
	case <-clock.C:
		err = ErrLate
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting { // no line
		p.waiting = false
		if err == nil {
			err = ErrGone
		}
		return "", false, time.Since(sent), err
	}
	return p.line, p.cut, p.arrived.Sub(sent), nil
}

// listen takes the answer of every request and throws the rest away.
func (p *Process) listen() {
	defer p.done.Done()
	buf := make([]byte, 4096)
	l := listener{p: p}
	for total := 0; total < maxChatter; {
		n, err := p.out.Read(buf)
		total += n
		l.take(buf[:n])
		if err != nil {
			break
		}
	}
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	p.signal()
}

func (p *Process) signal() {
	select {
	case p.answer <- struct{}{}:
	default:
	}
}

// A listener puts chunks of output together to lines.
type listener struct {
	p     *Process
	text  []byte
	cut   bool
	begun bool // part of a line has come
	stale bool // it came before the request
}

// take takes one chunk, as a whole before or after a request.
func (l *listener) take(chunk []byte) {
	now := time.Now()
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for len(chunk) > 0 {
		if !l.begun {
			l.begun, l.stale, l.cut, l.text = true, !l.p.waiting, false, l.text[:0]
		}
		part, ended := chunk, false
		if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			part, ended = chunk[:i], true
			chunk = chunk[i+1:]
		} else {
			chunk = nil
		}
		if room := MaxLine - len(l.text); len(part) > room {
			part, l.cut = part[:room], true
		}
		l.text = append(l.text, part...)
		if !ended {
			return
		}
		l.begun = false
		if l.p.waiting && !l.stale {
			l.p.waiting = false
			l.p.line, l.p.cut, l.p.arrived = strings.TrimSuffix(string(l.text), "\r"), l.cut, now
			l.p.signal()
		}
	}
}

// keepErrors passes standard error on, up to maxErrors, and drains it beyond that.
func (p *Process) keepErrors(errs func(line string)) {
	defer p.done.Done()
	buf := make([]byte, 4096)
	var text []byte
	total, skipping := 0, false
	flush := func() {
		if !skipping {
			errs(strings.TrimSuffix(string(text), "\r"))
		}
		text = text[:0]
	}
	for {
		n, err := p.errs.Read(buf)
		if total <= maxErrors {
			for _, c := range buf[:n] {
				if c == '\n' {
					flush()
					skipping = false
				} else if text = append(text, c); len(text) >= maxErrLine {
					flush()
					skipping = true
				}
			}
			if total += n; total > maxErrors {
				errs("(more of this is not kept)")
			}
		}
		if err != nil {
			if len(text) > 0 && total <= maxErrors {
				flush()
			}
			return
		}
	}
}

// Close closes the program's input, gives it a moment to leave, and ends its whole process
// group. It leaves no process, goroutine or open file behind. It may be called again.
func (p *Process) Close() error {
	p.once.Do(p.close)
	return nil
}

func (p *Process) close() {
	p.in.Close()
	left := time.NewTimer(leaveTime)
	defer left.Stop()
wait:
	for {
		p.mu.Lock()
		gone := p.gone
		p.mu.Unlock()
		if gone {
			break
		}
		select {
		case <-p.answer:
		case <-left.C:
			break wait
		}
	}
	killGroup(p.cmd)
	_ = p.cmd.Wait()
	p.out.Close()
	// What the program's last words were is in the pipe; a stranger holding it open is
	// not waited for.
	_ = p.errs.SetReadDeadline(time.Now().Add(leaveTime))
	p.done.Wait()
	p.errs.Close()
}

// Command is the argument list that runs a command line as a shell would.
func Command(line string) []string {
	if strings.ContainsAny(line, "\"'`$|&;<>()*?[]#~=%{}\\\n") {
		return shell(line)
	}
	return strings.Fields(line)
}
