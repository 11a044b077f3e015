// Package handles keeps WinTetris solvers under numbers, for callers that must not hold Go
// pointers: a table of solvers, the checks of what is asked of them, and the option text
// that makes one. It is the library of package lib without the C around it.
package handles

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"blockyard/env/wintetris"
)

// A Code is a failure as the caller gets it; 0 is none.
type Code int32

// The failures.
const (
	BadHandle   Code = -1 // no such solver, or it has been closed
	BadArgument Code = -2
	Internal    Code = -3 // the solver failed; it may be called again
)

// MaxOpen is how many solvers a table holds at once.
const MaxOpen = 4096

// A Table is solvers under handles. Its methods are safe for concurrent use; calls on one
// solver happen one after the other. No method panics.
type Table struct {
	new     func(options string) (wintetris.Solver, error)
	mu      sync.RWMutex
	last    int64
	open    map[int64]*entry
	failure atomic.Pointer[string] // of Open
}

type entry struct {
	mu      sync.Mutex       // held during a call
	solver  wintetris.Solver // nil after a failure, until the next call
	closed  bool
	options string
	failure atomic.Pointer[string]
}

// NewTable returns an empty table whose solvers are made by newSolver from their options.
// A solver and newSolver may panic; that fails the call and nothing else.
func NewTable(newSolver func(options string) (wintetris.Solver, error)) *Table {
	return &Table{new: newSolver, open: make(map[int64]*entry)}
}

// Open makes a solver and returns its handle, or 0; LastError(0) then says why. A handle is
// never given again.
func (t *Table) Open(options string) int64 {
	solver, err := t.make(options)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(t.open) < MaxOpen {
			t.last++
			t.open[t.last] = &entry{solver: solver, options: options}
			return t.last
		}
		err = fmt.Errorf("%d solvers are open, which is the most", MaxOpen)
	}
	t.FailOpen(err)
	return 0
}

// FailOpen records why a solver could not be opened.
func (t *Table) FailOpen(err error) {
	text := err.Error()
	t.failure.Store(&text)
}

func (t *Table) make(options string) (solver wintetris.Solver, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("making the solver failed: %v", r)
		}
	}()
	return t.new(options)
}

// Update asks a solver for its bits, or returns a failure below 0.
func (t *Table) Update(handle int64, q *Request) int32 {
	e := t.find(handle)
	if e == nil {
		return int32(BadHandle)
	}
	f, now, next, err := q.position()
	if err != nil {
		return e.fail(BadArgument, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return int32(BadHandle)
	}
	if e.solver == nil {
		if e.solver, err = t.make(e.options); err != nil {
			return e.fail(Internal, err)
		}
	}
	bits, err := ask(e.solver, &f, now, next, q.NewPiece)
	if err != nil {
		e.solver = nil
		return e.fail(Internal, err)
	}
	return int32(bits)
}

func ask(s wintetris.Solver, f *wintetris.Field, now, next wintetris.Block, fresh bool) (bits wintetris.Bits, err error) {
	returned := false
	defer func() {
		switch r := recover(); {
		case r != nil:
			err = fmt.Errorf("the solver failed: %v", r)
		case !returned: // recover sees nothing of panic(nil) under old rules
			err = errors.New("the solver failed")
		}
	}()
	bits = s.Update(f, now, next, fresh)
	returned = true
	return bits, nil
}

// Refuse records why the arguments of a call on a solver are bad, and returns its code.
func (t *Table) Refuse(handle int64, err error) int32 {
	if e := t.find(handle); e != nil {
		return e.fail(BadArgument, err)
	}
	return int32(BadHandle)
}

// Close ends a solver, after the call on it that is under way. It returns 0 or a failure.
func (t *Table) Close(handle int64) int32 {
	t.mu.Lock()
	e := t.open[handle]
	delete(t.open, handle)
	t.mu.Unlock()
	if e == nil {
		return int32(BadHandle)
	}
	e.mu.Lock()
	e.closed, e.solver = true, nil
	e.mu.Unlock()
	return 0
}

// LastError returns what went wrong last with a solver, or with Open for 0; "" if nothing
// did. ok is false if there is no such solver.
func (t *Table) LastError(handle int64) (text string, ok bool) {
	p := t.failure.Load()
	if handle != 0 {
		e := t.find(handle)
		if e == nil {
			return "", false
		}
		p = e.failure.Load()
	}
	if p == nil {
		return "", true
	}
	return *p, true
}

func (t *Table) find(handle int64) *entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.open[handle]
}

func (e *entry) fail(c Code, err error) int32 {
	text := err.Error()
	e.failure.Store(&text)
	return int32(c)
}
