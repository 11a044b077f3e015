//go:build !linux

package memory

import (
	"errors"
	"net"
	"os"
)

// CanShare reports whether this operating system can share memory.
const CanShare = false

var errNone = errors.New("this system shares no memory")

// New returns an error: this system shares no memory.
func New(int64) ([]byte, *os.File, error) { return nil, nil, errNone }

// Free returns an error, as there is nothing to free.
func Free([]byte) error { return errNone }

// Send returns an error, and writes nothing.
func Send(net.Conn, []byte, *os.File) (int, error) { return 0, errNone }
