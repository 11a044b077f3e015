// Package capi is for libraries with a C interface. A caller in C gets a number for what it opens, its handle; a Table
// finds what a handle names, lets calls for it take turns, and keeps the error of a call that fails. What would end the
// caller's process, a panic or an address of the caller that cannot be read or written, is such an error.
package capi

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// ErrNotOpen says that a handle names nothing: it never has, or that has been closed.
var ErrNotOpen = errors.New("nothing is open under this number")

// A Table maps handles to values. Its methods are safe for concurrent use, and none panics.
type Table[T any] struct {
	What string // what a value is, such as "solver", for errors
	Most int    // how many may be open

	mu      sync.RWMutex
	last    int64
	open    map[int64]*entry[T]
	failure failure // of Open
}

// An entry is one open value. Its methods are called under its lock, one after the other.
type entry[T any] struct {
	mu      sync.Mutex // held during a call
	value   T
	closed  bool
	failure failure
}

// A failure is the text of the last error, "" without one. It is safe for concurrent use.
type failure struct{ text atomic.Value }

func (f *failure) set(err error) { f.text.Store(err.Error()) }

func (f *failure) String() string {
	text, _ := f.text.Load().(string)
	return text
}

// Open keeps a new value and returns its handle, or 0; LastError(0) then says why. Handles are never used again.
func (t *Table[T]) Open(create func() (T, error)) (handle int64) {
	e := &entry[T]{}
	err := guard(func() (err error) {
		e.value, err = create()
		return err
	}, "making the %s failed: %v", t.What)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && len(t.open) >= t.Most {
		err = fmt.Errorf("%d %ss are open: close one first", t.Most, t.What)
	}
	if err != nil {
		t.failure.set(err)
		return 0
	}
	if t.open == nil {
		t.open = map[int64]*entry[T]{}
	}
	t.last++
	t.open[t.last] = e
	return t.last
}

// Guard calls f. If f panics, also by a fault at an address, the error begins with what.
func Guard(what string, f func() error) error { return guard(f, "%s: %v", what) }

func guard(f func() error, format, what string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf(format, what, p)
		}
	}()
	return f()
}

// Use calls f with the value of a handle, after other calls for it have returned. It keeps the error for LastError.
func (t *Table[T]) Use(handle int64, f func(*T) error) error {
	t.mu.RLock()
	e := t.open[handle]
	t.mu.RUnlock()
	if e == nil {
		return ErrNotOpen
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrNotOpen
	}
	err := guard(func() error { return f(&e.value) }, "the %s failed: %v", t.What)
	if err != nil {
		e.failure.set(err)
	}
	return err
}

// Close frees a value, after a call in progress.
func (t *Table[T]) Close(handle int64, free func(T) error) error {
	t.mu.Lock()
	e := t.open[handle]
	delete(t.open, handle)
	t.mu.Unlock()
	if e == nil {
		return ErrNotOpen
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	value, none := e.value, *new(T)
	e.value, e.closed = none, true
	return guard(func() error { return free(value) }, "closing the %s failed: %v", t.What)
}

// LastError returns the last error of the calls for a handle, or of Open for handle 0, or "". It waits for no call.
func (t *Table[T]) LastError(handle int64) (string, error) {
	if handle == 0 {
		return t.failure.String(), nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.open[handle]; e != nil {
		return e.failure.String(), nil
	}
	return "", ErrNotOpen
}

// Write writes a text to memory of the caller, as a string of at most size bytes with its 0.
func Write(text string, to unsafe.Pointer, size int) error {
	if to == nil || size <= 0 {
		return fmt.Errorf("no room for a text: %d bytes at %p", size, to)
	}
	return Guard("writing a text failed", func() error {
		room := unsafe.Slice((*byte)(to), min(size, len(text)+1))
		room[copy(room[:len(room)-1], text)] = 0
		return nil
	})
}
