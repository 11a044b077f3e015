package library

import (
	"bufio"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"blockyard/agents/contest"
	"blockyard/env/wintetris"
)

// A Fault says why the library's process can no longer be used.
type Fault struct{ Why string }

func (f *Fault) Error() string { return f.Why }

type Config struct {
	File     string        // the library
	Program  []string      // the child, to which the file is added; nil is this program
	Limit    time.Duration // for an answer; 0 for none
	Patience time.Duration // for a call, or for loading the library; 0 for no limit
	Output   io.Writer     // gets what the library prints, from another goroutine; nil discards it
}

// A Process runs a library. It is not safe for concurrent use.
type Process struct {
	config  Config
	child   *contest.Child
	asks    *gob.Encoder
	answers chan Answer // closed when the process has closed its pipe
	printed *output
	timer   *time.Timer

	last  request
	since time.Time // when it was sent
	out   bool      // it has not been answered
	owed  bool      // the library has not heard of a piece's first tick, which was late
	dead  error     // why the process cannot be used any more
}

// Start starts the process and loads the library. An error of the library is a *Fault.
func Start(ctx context.Context, c Config) (*Process, error) {
	file, err := filepath.Abs(c.File) // a name without a folder would be searched in the system's folders
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	argv := c.Program
	if argv == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		argv = []string{self, verb}
	}
	p := &Process{config: c, answers: make(chan Answer, 1), printed: &output{to: c.Output}}
	spec := contest.Spec{
		Argv: append(slices.Clip(argv), file), Cage: contest.Trusted, Stderr: p.printed.read, Frames: p.listen,
	}
	if !framesOnStdout {
		spec.Stdout = p.printed.read
	}
	if p.child, err = contest.StartChild(spec); err != nil {
		return nil, fmt.Errorf("start the library's process: %w", err)
	}
	p.asks, p.timer = gob.NewEncoder(p.child.In), time.NewTimer(time.Hour)
	p.last.Function, p.since, p.out = "loading", time.Now(), true
	if _, err := p.await(ctx, 0); err != nil {
		_ = p.stop()
		return nil, err
	}
	return p, nil
}

// mostAnswer is how long an answer may be, in bytes. A library can write to the pipe itself, and announce a gigabyte.
const mostAnswer = 1 << 20

// listen passes answers on until the process ends.
func (p *Process) listen(r io.Reader) {
	defer close(p.answers)
	bounded := &io.LimitedReader{R: r}
	for from := gob.NewDecoder(bounded); ; {
		var a Answer
		bounded.N = mostAnswer
		err := from.Decode(&a)
		switch {
		case err != nil && bounded.N == 0:
			text := fmt.Sprintf("an answer from the library's process is longer than %d bytes", mostAnswer)
			a = Answer{Failed: true, Text: text}
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(*fs.PathError)):
			return
		case err != nil:
			a = Answer{Failed: true, Text: "invalid answer from the library's process: " + err.Error()}
		}
		a.Text = printable([]byte(a.Text))
		p.answers <- a
		if a.Failed {
			return
		}
	}
}

// call asks the process to call a function, and waits for the answer as await does.
func (p *Process) call(ctx context.Context, q request, limit time.Duration) (Answer, error) {
	p.last, p.since, p.out = q, time.Now(), true
	if p.asks.Encode(&p.last) != nil {
		return Answer{}, p.fail(p.ended())
	}
	return p.await(ctx, limit)
}

// await waits for the outstanding answer, at most for limit if that is not 0, and until patience ends.
func (p *Process) await(ctx context.Context, limit time.Duration) (Answer, error) {
	hung := limit == 0
	if left := p.config.Patience - time.Since(p.since); p.config.Patience > 0 && (limit == 0 || left <= limit) {
		limit, hung = max(left, 1), true
	}
	var clock <-chan time.Time
	if limit > 0 {
		p.timer.Reset(limit)
		clock = p.timer.C
	}
	select {
	case a, ok := <-p.answers:
		p.out = false
		switch {
		case !ok:
			return a, p.fail(p.ended())
		case a.Failed:
			return a, p.fail(&Fault{a.Text})
		}
		return a, nil
	case <-clock:
		if !hung {
			return Answer{}, contest.ErrLate
		}
		return Answer{}, p.fail(&Fault{fmt.Sprintf("hung in %s for %v", p.last.Function, p.config.Patience)})
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

func (p *Process) fail(err error) error {
	p.dead = err
	_ = p.stop()
	return err
}

// Open closes the last game's solver and opens one. The error is a *Fault, that of ctx, or why the options are refused.
func (p *Process) Open(ctx context.Context, options string) error {
	if p.dead != nil {
		return p.dead
	}
	if p.out { // of the previous game
		if _, err := p.await(ctx, 0); err != nil {
			return err
		}
	}
	p.owed = false
	a, err := p.call(ctx, request{Function: "wt_open", Options: options}, 0)
	if err == nil && a.Code < 0 {
		err = errors.New(a.Text)
	}
	return err
}

// Update returns the bits of a tick. With an error there are none: after contest.ErrLate and
// *Answer the game can go on; after *Fault and the error of ctx it cannot.
func (p *Process) Update(
	ctx context.Context, f *wintetris.Field, now, next wintetris.Block, fresh bool) (wintetris.Bits, error) {
	if p.dead != nil {
		return 0, p.dead
	}
	asked := time.Now()
	limit := p.config.Limit
	if p.out { // to an earlier tick, which is late
		if _, err := p.await(ctx, limit); err != nil {
			p.owed = p.owed || fresh
			return 0, err
		}
		if limit > 0 {
			limit = max(limit-time.Since(asked), 1)
		}
	}
	q := request{Function: "wt_update", Field: *f, Now: now, Next: next, Fresh: fresh || p.owed}
	p.owed = false
	a, err := p.call(ctx, q, limit)
	if err == nil && a.Code < 0 {
		err = &a
	}
	if err != nil {
		return 0, err
	}
	return wintetris.Bits(a.Code), nil
}

// Close closes the solver if the library lets it, and ends the process.
func (p *Process) Close() error {
	if p.dead != nil {
		return nil
	}
	if !p.out {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = p.call(ctx, request{Function: "wt_close"}, 0)
	}
	p.dead = errors.New("closed")
	_ = p.stop()
	return nil
}

func (p *Process) stop() error {
	go func() { // discard further answers, so that listen ends
		for range p.answers {
		}
	}()
	return p.child.Kill()
}

// ended says how a process ended that has closed its pipes. Killing one that exits does not change its status.
func (p *Process) ended() error {
	err := p.stop()
	kind := "the library ended its process"
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		kind = fmt.Sprintf("the library's process ended: %v", exit)
	}
	if p.printed.cause != "" { // stop has waited for the readers
		kind = fmt.Sprintf("crashed (%s)", p.printed.cause)
	}
	return &Fault{fmt.Sprintf("%s in %s", kind, p.last.Function)}
}

const mostPrinted = 1 << 20

// An output is what a process prints: it is passed on, and the first line that reports a crash is kept.
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
