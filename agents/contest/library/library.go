// Package library plays WinTetris with a solver in a shared library, through the C interface of
// agents/submit/wintetris/wintetris.h.
//
// The library runs in a child process: this program, started with ServeArgument. A library that
// crashes, hangs, exits or corrupts memory therefore ends one game and not the series. Parent and
// child exchange messages over two pipes, which adds some tens of microseconds to a call. The child
// loads the library without cgo and makes all calls from one thread.
//
// # Limits
//
// In every tick of the game the library is asked for its inputs, as bits. An answer that comes after Config.Limit
// counts as no input. The call goes on, and until it returns, further ticks are late as well. If a piece's first tick
// was late, the next call is marked as the piece's first tick. A call that takes longer than Config.Patience is a
// Fault, as is the end of the process; the next game starts a new process.
package library

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"blockyard/env/wintetris"
)

// ABI is the version of the interface.
const ABI = 1

type field struct {
	size          uint32
	width, height int32
	cells         *uint8
}

// A block is wt_block: rows count from the top.
type block struct {
	size              uint32
	kind, rot, x, row int32
}

const (
	blockSize = uint32(unsafe.Sizeof(block{}))
	fieldSize = uint32(unsafe.Sizeof(field{}))
	maxText   = 512 // bytes of an error text
)

// A library is a loaded library. It stays loaded until the process ends. Its methods make C
// calls on the current thread.
type library struct {
	version, open, update, close, lastError uintptr
	solver                                  int64 // 0 if none is open

	pin           runtime.Pinner
	f             field
	cells         [wintetris.Width * wintetris.Height]uint8 // the top row first
	current, next block
	fresh         uintptr // 1 in a piece's first tick
}

func load(file string) (*library, error) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return nil, errors.New("load: a 64-bit machine is needed") // a handle travels in one register
	}
	handle, err := dlopen(file)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	l := &library{}
	for _, s := range []struct {
		name string
		at   *uintptr
	}{
		{"wt_abi_version", &l.version}, {"wt_open", &l.open}, {"wt_update", &l.update}, {"wt_close", &l.close},
		{"wt_last_error", &l.lastError},
	} {
		if *s.at, err = dlsym(handle, s.name); err != nil {
			return nil, fmt.Errorf("load: no function %s in it: %w", s.name, err)
		}
	}
	if got := l.call(l.version); got != ABI {
		return nil, fmt.Errorf("load: its interface has version %d, want %d", got, ABI)
	}
	l.f = field{size: fieldSize, width: wintetris.Width, height: wintetris.Height, cells: &l.cells[0]}
	l.pin.Pin(l)
	return l, nil
}

func (l *library) call(function uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(function, args...)
	return int32(r)
}

func (l *library) begin(options string) Answer {
	text := append([]byte(options), 0)
	var pin runtime.Pinner
	pin.Pin(&text[0])
	defer pin.Unpin()
	r, _, _ := purego.SyscallN(l.open, uintptr(unsafe.Pointer(&text[0])))
	if l.solver = int64(r); r == 0 {
		return Answer{Code: -1, Text: "wt_open: " + l.why()}
	}
	return Answer{}
}

func (l *library) set(q *request) {
	for y := range wintetris.Height {
		row := l.cells[(wintetris.Height-1-y)*wintetris.Width:][:wintetris.Width]
		for x := range row {
			row[x] = uint8(q.Field[y] >> x & 1)
		}
	}
	l.current, l.next, l.fresh = flat(q.Now), flat(q.Next), 0
	if q.Fresh {
		l.fresh = 1
	}
}

func flat(b wintetris.Block) block {
	return block{
		size: blockSize, kind: int32(b.Kind), rot: int32(b.Rot), x: int32(b.X),
		row: int32(wintetris.Height - int(b.Y) - wintetris.Size(b.Kind)),
	}
}

func (l *library) end() int32 {
	code := l.call(l.close, uintptr(l.solver))
	l.solver = 0
	return code
}

// why returns the text of the solver's last error, or, if none is open, why none could be opened.
func (l *library) why() string {
	buf := make([]byte, maxText)
	var pin runtime.Pinner
	pin.Pin(&buf[0])
	defer pin.Unpin()
	switch n := l.call(l.lastError, uintptr(l.solver), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf))); {
	case n < 0:
		return fmt.Sprintf("no reason is given: wt_last_error answered %d", n)
	case n == 0:
		return "no reason is given"
	default:
		return printable(buf[:min(int(n), len(buf)-1)])
	}
}
