// Library is the server as a shared library, for programs that want its games in their own process: blockyard.h
// describes the functions. Its connections are sessions like those over sockets, with the same methods.
//
//	go build -buildmode=c-shared -o blockyard.so ./rpc/library
package main

// #include <stdint.h>
import "C"

import (
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

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
	l.MaxSessions, l.MaxHandles, l.MaxMemory = 4096, 4096, 1<<40
	log := slog.New(slog.NewTextHandler(&ansi.Writer{To: os.Stderr}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return server.New(server.Config{Games: games.All, Version: version, Trusted: true, Limits: l, Log: log}.WithBots())
})

// A connection is what C names by a number.
type connection struct {
	*server.Local
	games *client.Games // of blockyard_open; nil for others
	err   error         // of the last call for them
}

var (
	connections sync.Map // by number, from 1
	numbers     atomic.Int64
)

// connect opens a connection and returns its number.
func connect() (*connection, C.int64_t) {
	number := numbers.Add(1)
	c := &connection{Local: started().Local()}
	connections.Store(number, c)
	return c, C.int64_t(number)
}

// find returns the connection with a number, nil if there is none.
func find(number C.int64_t) *connection {
	c, _ := connections.Load(int64(number))
	found, _ := c.(*connection)
	return found
}

//export blockyard_connect
func blockyard_connect() C.int64_t {
	_, number := connect()
	return number
}

//export blockyard_write
func blockyard_write(number C.int64_t, request unsafe.Pointer, size C.int64_t) C.int64_t {
	c := find(number)
	if c == nil {
		return -1
	}
	n, err := c.Write(unsafe.Slice((*byte)(request), size))
	if err != nil {
		return -1
	}
	return C.int64_t(n)
}

//export blockyard_read
func blockyard_read(number C.int64_t, into unsafe.Pointer, room C.int64_t) C.int64_t {
	c := find(number)
	if c == nil {
		return -1
	}
	n, _ := c.Read(unsafe.Slice((*byte)(into), room)) // whose only error is that there is nothing to read
	return C.int64_t(n)
}

//export blockyard_step_handle
func blockyard_step_handle(number C.int64_t, handle C.uint32_t, actions, slab unsafe.Pointer) C.int32_t {
	if c := find(number); c != nil && c.Step(uint32(handle), actions, slab) {
		return 0
	}
	return -1
}

//export blockyard_close
func blockyard_close(number C.int64_t) {
	if c := find(number); c != nil {
		connections.Delete(int64(number))
		_ = c.Close() // which never fails
	}
}
