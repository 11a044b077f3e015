// Library is the server as a shared library, for programs that want its games in their own process: blockyard.h
// describes the functions. Its connections are sessions like those over sockets, with the same methods.
//
//	go build -buildmode=c-shared -o blockyard.so ./rpc/library
package main

// #include <stdint.h>
import "C"

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire/client"
)

func main() {}

// version is that of the package that the library is built for: -ldflags "-X main.version=1.2.3".
var version = "of unknown version"

// started is the server of this process, its only client, so that it may do what the process may.
var started = sync.OnceValue(func() *server.Server {
	l := limits.DefaultLimits()
	l.MaxSessions, l.MaxHandles = 4096, 4096
	l.MaxMemory, _ = limits.Fitting()
	return server.New(server.Config{Games: games.All, Version: version, Trusted: true, Limits: l, Log: log}.WithBots())
})

var log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))

// A connection is what C names by a number. Calls for it take turns.
type connection struct {
	mu     sync.Mutex
	local  *server.Local
	games  *client.Games // of blockyard_open; nil for others
	closed bool
	err    error // the last one
}

var (
	connections sync.Map // by number, from 1
	numbers     atomic.Int64
	failedOpen  atomic.Pointer[string] // the last error of blockyard_open
)

// connect opens a connection and returns its number.
func connect() C.int64_t {
	number := numbers.Add(1)
	connections.Store(number, &connection{local: started().Local()})
	return C.int64_t(number)
}

// call does something with the connection of a number, after other calls for it, and reports whether that succeeded. It
// keeps the error. A panic is an error, too: in a program in C it would end the process.
func call(number C.int64_t, do func(*connection) error) (ok bool) {
	found, _ := connections.Load(int64(number))
	c, ok := found.(*connection)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "panic", p, "stack", string(debug.Stack()))
			c.err, ok = fmt.Errorf("a bug in Blockyard, whose stack standard error has: %v", p), false
		}
	}()
	if c.closed {
		return false
	}
	if err := do(c); err != nil {
		c.err = err
		return false
	}
	return true
}

// request is call for a connection of blockyard_connect.
func request(number C.int64_t, do func(*server.Local) error) (ok bool) {
	return call(number, func(c *connection) error {
		if c.games != nil {
			return fmt.Errorf("%d is an environment: send requests over a connection of blockyard_connect", number)
		}
		return do(c.local)
	})
}

// memory returns memory of the caller.
func memory(at unsafe.Pointer, size C.int64_t) ([]byte, error) {
	switch {
	case size < 0 || size > 1<<40:
		return nil, fmt.Errorf("the size is %d, want 0 to 2^40 bytes", size)
	case at == nil && size > 0:
		return nil, fmt.Errorf("the memory is NULL, want %d bytes", size)
	}
	return unsafe.Slice((*byte)(at), size), nil
}

//export blockyard_connect
func blockyard_connect() C.int64_t { return connect() }

//export blockyard_write
func blockyard_write(number C.int64_t, requests unsafe.Pointer, size C.int64_t) C.int64_t {
	if !request(number, func(l *server.Local) error {
		b, err := memory(requests, size)
		if err == nil {
			_, err = l.Write(b)
		}
		return err
	}) {
		return -1
	}
	return size
}

//export blockyard_read
func blockyard_read(number C.int64_t, into unsafe.Pointer, room C.int64_t) C.int64_t {
	n := 0
	if !request(number, func(l *server.Local) error {
		b, err := memory(into, room)
		if err == nil {
			n, _ = l.Read(b) // whose only error is that there is nothing to read
		}
		return err
	}) {
		return -1
	}
	return C.int64_t(n)
}

//export blockyard_step_handle
func blockyard_step_handle(number C.int64_t, handle C.uint32_t, actions, slab unsafe.Pointer) C.int32_t {
	if !request(number, func(l *server.Local) error {
		if !l.Step(uint32(handle), actions, slab) {
			return errors.New("the step failed: blockyard_read returns why")
		}
		return nil
	}) {
		return -1
	}
	return 0
}

//export blockyard_close
func blockyard_close(number C.int64_t) {
	call(number, func(c *connection) error {
		connections.Delete(int64(number))
		c.closed = true
		return c.local.Close()
	})
}
