package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"blockyard/agents/contest"
	"blockyard/env/wintetris"
)

// A Fault says why the library's process can no longer be used.
type Fault struct{ Why string }

// Error implements error.
func (f *Fault) Error() string { return f.Why }

// Config says how a library is run.
type Config struct {
	File     string        // the library
	Program  []string      // the command that calls Serve; the file is added. nil means this program with ServeArgument
	Limit    time.Duration // for an answer; 0 for none
	Patience time.Duration // for a call, or for loading the library; 0 for no limit
	Output   io.Writer     // gets what the library prints, from another goroutine; nil discards it
}

// A Process runs a library. It is not safe for concurrent use.
type Process struct {
	config  Config
	child   *contest.Child
	answers chan answer // closed when the process has closed its pipe
	printed *tail
	timer   *time.Timer

	doing string    // the function of the last call
	since time.Time // when
	out   bool      // it has not been answered
	owed  bool      // a piece's first tick was late
	dead  error
	call  call
	body  []byte
	buf   []byte
}

type answer struct {
	code int32
	text string
	err  error // the process cannot go on, or sent an invalid frame
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
		argv = []string{self, ServeArgument}
	}
	p := &Process{config: c, answers: make(chan answer, 1), printed: &tail{to: c.Output}}
	keep := func(r io.Reader) { _, _ = io.Copy(p.printed, r) }
	spec := contest.Spec{Argv: append(argv[:len(argv):len(argv)], file), Stderr: keep, Frames: p.listen}
	if !framesOnStdout {
		spec.Stdout = keep
	}
	if p.child, err = contest.StartChild(spec); err != nil {
		return nil, fmt.Errorf("start the library's process: %w", err)
	}
	p.timer = time.NewTimer(time.Hour)
	p.began("loading")
	if _, err := p.await(ctx, 0); err != nil {
		_ = p.stop()
		return nil, err
	}
	return p, nil
}

// listen passes answers on until the process ends.
func (p *Process) listen(r io.Reader) {
	defer close(p.answers)
	for buf := frameBuffer(); ; {
		op, body, err := readFrame(r, buf)
		if err != nil {
			break
		}
		var a answer
		switch op {
		case opAnswer:
			a.code, a.text, a.err = parseAnswer(body)
		case opFailed:
			a.err = errors.New(printable(body))
		default:
			a.err = fmt.Errorf("frame %q from the library's process", op)
		}
		p.answers <- a
		if a.err != nil {
			break
		}
	}
}

func (p *Process) began(what string) { p.doing, p.since, p.out = what, time.Now(), true }

// send makes a call.
func (p *Process) send(op byte, what string, body []byte) error {
	p.began(what)
	var err error
	if p.buf, err = writeFrame(p.child.In, p.buf, op, body); err != nil {
		if len(body) > maxFrame {
			p.out = false
			return err
		}
		return p.fail(p.ended())
	}
	return nil
}

// await waits for the outstanding answer: at most for limit if that is not 0, otherwise until
// patience ends.
func (p *Process) await(ctx context.Context, limit time.Duration) (answer, error) {
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
		case a.err != nil:
			return a, p.fail(&Fault{a.err.Error()})
		}
		return a, nil
	case <-clock:
		if !hung {
			return answer{}, contest.ErrLate
		}
		return answer{}, p.fail(&Fault{fmt.Sprintf("hung in %s for %v", p.doing, p.config.Patience)})
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

// fail ends the process; every later call returns err.
func (p *Process) fail(err error) error {
	p.dead = err
	_ = p.stop()
	return err
}

// Open closes the solver of the previous game and opens one. The error is a *Fault, or that of
// ctx, or says why the library refuses the options.
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
	if err := p.send(opOpen, "wt_open", []byte(options)); err != nil {
		return err
	}
	a, err := p.await(ctx, 0)
	if err == nil && a.code < 0 {
		err = errors.New(a.text)
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
	p.call.set(f, now, next, fresh || p.owed)
	p.owed = false
	p.body = p.call.append(p.body[:0])
	if err := p.send(opUpdate, "wt_update", p.body); err != nil {
		return 0, err
	}
	a, err := p.await(ctx, limit)
	switch {
	case err != nil:
		return 0, err
	case a.code < 0:
		return 0, &Answer{a.code, a.text}
	}
	return wintetris.Bits(a.code), nil
}

// Close closes the solver if the library lets it, and ends the process.
func (p *Process) Close() error {
	if p.dead != nil {
		return nil
	}
	if !p.out && p.send(opClose, "wt_close", nil) == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = p.await(ctx, 0)
	}
	p.dead = errors.New("closed")
	_ = p.stop()
	return nil
}
