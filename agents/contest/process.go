package contest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	maxChatter = 64 << 20 // bytes that a bot may write in one game, answers included
	maxErrors  = 1 << 20  // bytes of standard error that are passed on in one game
	maxErrLine = 4 << 10  // bytes of one line of it
	leaveTime  = 300 * time.Millisecond
	readTime   = time.Second // for the bot to read a request, beside the time to answer
)

// The ways in which a program that is asked does not answer.
var (
	ErrLate = errors.New("no answer in time")
	ErrGone = errors.New("the program has ended") // or closed its output
)

// A Process is a bot: a program that reads requests of one or more lines and answers each
// with one line.
type Process struct {
	child  *Child
	answer chan struct{} // signalled when line is set or the output ends

	mu      sync.Mutex
	waiting bool
	line    string
	cut     bool
	arrived time.Time
	total   int // bytes written by the bot
	gone    bool
}

// Start starts the bot with the command argv. Each line of its standard error goes to errs,
// which is called from another goroutine, up to a limit; nil discards them.
func Start(argv []string, errs func(line string)) (*Process, error) {
	if errs == nil {
		errs = func(string) {}
	}
	p := &Process{answer: make(chan struct{}, 1)}
	var err error
	p.child, err = StartChild(Spec{
		Argv: argv, Input: true, Stdout: p.listen, Stderr: func(r io.Reader) { passLines(r, errs) },
	})
	if err != nil {
		return nil, fmt.Errorf("start bot: %w", err)
	}
	return p, nil
}

// Ask writes lines and then waits, for at most limit, for the first line that begins and ends
// after that. Earlier output is discarded. cut says that the line was longer than MaxLine. The
// error is ErrLate, ErrGone or that of ctx.
func (p *Process) Ask(ctx context.Context, lines []string, limit time.Duration) (
	line string, cut bool, elapsed time.Duration, err error) {
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
	_ = p.child.In.SetWriteDeadline(time.Now().Add(limit + readTime))
	defer context.AfterFunc(ctx, func() { _ = p.child.In.SetWriteDeadline(time.Now()) })()
	if _, err := io.WriteString(p.child.In, strings.Join(lines, "\n")+"\n"); err != nil {
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

// listen keeps the answer to each request and discards all other output.
func (p *Process) listen(r io.Reader) {
	buf := make([]byte, 4096)
	l := listener{p: p}
	for {
		n, err := r.Read(buf)
		if total := l.take(buf[:n]); err != nil || total >= maxChatter {
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

// A listener assembles chunks of output into lines.
type listener struct {
	p     *Process
	text  []byte
	cut   bool
	begun bool // part of a line has come
	stale bool // it came before the request
}

// take handles one chunk, which as a whole came before or after a request, and returns the number
// of bytes so far.
func (l *listener) take(chunk []byte) int {
	now := time.Now()
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.total += len(chunk)
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
			break
		}
		l.begun = false
		if l.p.waiting && !l.stale {
			l.p.waiting = false
			l.p.line, l.p.cut, l.p.arrived = strings.TrimSuffix(string(l.text), "\r"), l.cut, now
			l.p.signal()
		}
	}
	return l.p.total
}

// passLines calls each for every line of r, cut to maxErrLine bytes, until there were maxErrors
// bytes, and reads r to its end.
func passLines(r io.Reader, each func(line string)) {
	limited := &io.LimitedReader{R: r, N: maxErrors}
	in := bufio.NewReaderSize(limited, maxErrLine)
	for {
		line, long, err := in.ReadLine()
		if err != nil {
			break
		}
		each(string(line))
		for long && err == nil {
			_, long, err = in.ReadLine()
		}
	}
	if n, _ := io.Copy(io.Discard, r); n > 0 {
		each("(more of this is not kept)")
	}
}

// Close closes the bot's input, gives it a moment to end by itself, and ends it with all that it
// has started. It may be called again.
func (p *Process) Close() error {
	p.child.In.Close()
	p.child.Exit(leaveTime)
	_ = p.child.Kill()
	return nil
}

// Command splits a command line into arguments. A line with characters that are special to a
// shell is run by one.
func Command(line string) []string {
	if strings.ContainsAny(line, "\"'`$|&;<>()*?[]#~=%{}\\\n") {
		return shell(line)
	}
	return strings.Fields(line)
}
