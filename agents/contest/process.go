package contest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxChatter = 64 << 20 // bytes that a bot may write in one game, answers included
	maxErrors  = 1 << 20  // bytes of standard error that are passed on in one game
	maxErrLine = 4 << 10  // bytes of one line of it
	leaveTime  = 300 * time.Millisecond
	endTime    = 3 * time.Second // for a program that has closed its output to end
	readTime   = time.Second     // for the bot to read a request, beside the time to answer
)

// The reasons why a program does not answer a request.
var (
	ErrLate = errors.New("no answer in time")
	ErrGone = errors.New("the program has ended") // or closed its output
)

// A Process is a bot: a program that reads requests of one or more lines and answers each with one line.
type Process struct {
	Clock Clock // which Ask goes by

	child  *Child
	answer chan struct{} // signalled when line is set or the output ends
	meter  meter         // of what it uses
	used   Usage         // for its last answer
	hides  bool          // it has had processes that were gone when it was measured

	mu      sync.Mutex
	asked   int // number of requests
	waiting int // number of the request that has no answer yet; 0 for none
	line    string
	cut     bool
	arrived time.Time
	delay   time.Duration // of the host, until it read the answer
	total   int           // bytes written by the bot
	partial int           // bytes behind its last line end
	extra   int           // lines beside the answers
	told    bool
	gone    bool
	replied bool   // it has answered a request
	excess  string // what it took too much of, for which it was ended
	last    Tail   // of standard error
}

// Ask writes lines and then waits, for at most limit by p.Clock, for the first line that begins and ends after that.
// Earlier output is discarded. cut says that the line was longer than MaxLine, and elapsed is what the clock charges.
// The error is ErrLate, ErrGone, ErrStalled or that of ctx.
func (p *Process) Ask(ctx context.Context, lines []string, limit time.Duration) (
	line string, cut bool, elapsed time.Duration, err error) {
	select {
	case <-p.answer:
	default:
	}
	p.mu.Lock()
	p.asked++
	p.waiting = p.asked
	p.line, p.cut = "", false
	gone := p.gone
	p.mu.Unlock()
	if gone {
		return "", false, 0, ErrGone
	}
	m := p.measure()
	_ = p.child.In.SetWriteDeadline(time.Now().Add(max(limit, 0) + readTime))
	defer context.AfterFunc(ctx, func() { _ = p.child.In.SetWriteDeadline(time.Now()) })()
	if _, err := io.WriteString(p.child.In, strings.Join(lines, "\n")+"\n"); err != nil {
		if ctx.Err() != nil {
			return "", false, 0, ctx.Err()
		}
		return "", false, 0, ErrGone
	}
	m.sent = time.Now()
	if err = p.await(ctx, m, limit); err != nil {
		return "", false, p.Clock.charged(p.used), err
	}
	p.used = m.use(max(p.arrived.Sub(m.sent), 0), p.delay)
	return p.line, p.cut, p.Clock.charged(p.used), nil
}

// listen keeps the answer to each request and discards all other output.
func (p *Process) listen(r io.Reader) {
	runtime.LockOSThread() // whose delays are measured
	defer runtime.UnlockOSThread()
	from := &chunks{p: p, r: r, await: awaiting(r)}
	for in := bufio.NewReader(from); from.err == nil; {
		_, _ = in.Peek(1)
		begun := from.request // the last chunk is that in which the line begins
		line, cut, _ := ReadLine(in)
		p.mu.Lock()
		if from.err == nil && begun != 0 && begun == p.waiting {
			p.waiting, p.line, p.cut, p.replied = 0, line, cut, true
			p.arrived, p.delay = from.arrived, from.delay
			p.signal()
		} else if from.err == nil {
			p.extra++
		}
		p.mu.Unlock()
	}
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	p.signal()
}

// ended notes for what the program has been ended.
func (p *Process) ended(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.excess = why
}

func (p *Process) signal() {
	select {
	case p.answer <- struct{}{}:
	default:
	}
}

// chunks reads a bot's output up to maxChatter, and notes when the last chunk arrived and which
// request had no answer then, so that output from before a request is not taken for its answer.
type chunks struct {
	p       *Process
	r       io.Reader
	await   func() time.Duration // waits for more, and says how long the host then waited for a processor
	arrived time.Time
	delay   time.Duration // of the host, until it read the chunk
	request int
	err     error
}

func (c *chunks) Read(b []byte) (n int, err error) {
	c.delay = c.await()
	arrived := time.Now().Add(-c.delay)
	n, c.err = c.r.Read(b)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.arrived, c.request = arrived, c.p.waiting
	c.p.partial += n
	if end := bytes.LastIndexByte(b[:n], '\n'); end >= 0 {
		c.p.partial = n - end - 1
	}
	if c.p.total += n; c.p.total >= maxChatter {
		c.err = io.EOF
	}
	return n, c.err
}

// PassLines calls each for every line of r, cut to maxErrLine bytes, up to maxErrors bytes, and reads r to its end.
func PassLines(r io.Reader, each func(line string)) {
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

// CPU is the processor time that the bot has used, with the children that it has waited for. It is known after Close.
func (p *Process) CPU() time.Duration { return p.child.CPU() }

// Odd says for the bot's author what was odd since it last was asked, or, by the error of Ask, why it did not answer.
func (p *Process) Odd(err error) (out []string) {
	p.mu.Lock()
	partial, extra, total, excess, replied := p.partial, p.extra, p.total, p.excess, p.replied
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
	case errors.Is(err, ErrLate) && replied: // it knows how to
		out = append(out, "no answer: not a byte has arrived since the request")
	case errors.Is(err, ErrLate):
		out = append(out, "no answer: not a byte has arrived since the request; a program that answers must flush")
	case errors.Is(err, ErrGone) && excess != "":
		out = append(out, "the program was ended: "+excess)
	case errors.Is(err, ErrGone) && total >= maxChatter:
		out = append(out, fmt.Sprintf("no more is read: it has written %d MiB in a game", maxChatter>>20))
	case errors.Is(err, ErrGone) && p.child.Exit(endTime):
		out = append(out, "the program has ended: "+ending(p.child.Kill())+p.complaint())
	case errors.Is(err, ErrGone):
		out = append(out, "the program has closed its output but not ended")
	}
	return out
}

// complaint is what a program that has ended wrote last to standard error, at most 300 bytes.
func (p *Process) complaint() string {
	text := p.last.String()
	if text == "" {
		return ""
	}
	text = strings.ToValidUTF8(text[max(0, len(text)-300):], "")
	return fmt.Sprintf("; standard error ends: %q", strings.ReplaceAll(text, "\n", " / "))
}

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

// A Tail keeps the last lines of what is written to it.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLen = 2 << 10

func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - tailLen; extra > 0 {
		t.text = bytes.Clone(t.text[extra:])
	}
	return len(b), nil
}

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
