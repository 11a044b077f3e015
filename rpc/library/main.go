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
	"sync"
	"unsafe"

	"blockyard/datasets/program/capi"
	"blockyard/env/ansi"
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
	log := slog.New(slog.NewTextHandler(&ansi.Writer{To: os.Stderr}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return server.New(server.Config{Games: games.All, Version: version, Trusted: true, Limits: l, Log: log}.WithBots())
})

// A connection is what C names by a number.
type connection struct {
	*server.Local
	games *client.Games // of an environment, that is, of blockyard_open; nil for others
}

var connections = capi.Table[connection]{What: "connection", Most: 4096}

// use asks for something of an environment, or of another connection; -1 after an error.
func use(number C.int64_t, environment bool, ask func(*connection) (int, error)) (answer C.int64_t) {
	if connections.Use(int64(number), func(c *connection) error {
		switch {
		case environment && c.games == nil:
			return fmt.Errorf("%d is a connection of blockyard_connect, want an environment of blockyard_open", number)
		case !environment && c.games != nil:
			return fmt.Errorf("%d is an environment of blockyard_open, want a connection of blockyard_connect", number)
		}
		n, err := ask(c)
		answer = C.int64_t(n)
		return err
	}) != nil {
		return -1
	}
	return answer
}

// memory returns memory of the caller.
func memory(at unsafe.Pointer, size C.int64_t) ([]byte, error) {
	if size < 0 || size > 1<<40 || at == nil && size > 0 {
		return nil, fmt.Errorf("%d bytes at %p: want memory, and a size from 0 to 2^40", size, at)
	}
	return unsafe.Slice((*byte)(at), size), nil
}

//export blockyard_connect
func blockyard_connect() C.int64_t {
	return C.int64_t(connections.Open(func() (connection, error) { return connection{Local: started().Local()}, nil }))
}

//export blockyard_write
func blockyard_write(number C.int64_t, requests unsafe.Pointer, size C.int64_t) C.int64_t {
	return use(number, false, func(c *connection) (int, error) {
		b, err := memory(requests, size)
		if err != nil {
			return 0, err
		}
		return c.Write(b)
	})
}

//export blockyard_read
func blockyard_read(number C.int64_t, into unsafe.Pointer, room C.int64_t) C.int64_t {
	return use(number, false, func(c *connection) (int, error) {
		b, err := memory(into, room)
		if err != nil {
			return 0, err
		}
		n, _ := c.Read(b) // whose only error is that there is nothing to read
		return n, nil
	})
}

//export blockyard_step_handle
func blockyard_step_handle(number C.int64_t, handle C.uint32_t, actions, slab unsafe.Pointer) C.int32_t {
	return C.int32_t(use(number, false, func(c *connection) (int, error) {
		if !c.Step(uint32(handle), actions, slab) {
			return 0, errors.New("the step failed: blockyard_read returns why")
		}
		return 0, nil
	}))
}

//export blockyard_close
func blockyard_close(number C.int64_t) {
	_ = connections.Close(int64(number), func(c connection) error { return c.Close() }) // which fails if it is not open
}
