// Package library plays WinTetris with a solver in a shared library, through the C interface of
// agents/submit/wintetris/wintetris.h.
//
// The library runs in a child process, which is this program again. A library that
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
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"blockyard/env/ansi"
	"blockyard/env/wintetris"
)

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
)

// A library is loaded until the process ends. Its methods make C calls on the current thread.
type library struct {
	version, open, update, close, lastError uintptr
	solver                                  int64 // 0 if none is open

	pin           runtime.Pinner
	f             field
	cells         [wintetris.Width * wintetris.Height]uint8 // the top row first
	current, next block
	text          [512]byte // of an error
	fresh         uintptr   // 1 in a piece's first tick
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
	buf := l.text[:]
	switch n := l.call(l.lastError, uintptr(l.solver), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf))); {
	case n < 0:
		return fmt.Sprintf("no reason is given: wt_last_error answered %d", n)
	case n == 0:
		return "no reason is given"
	default:
		return printable(buf[:min(int(n), len(buf)-1)])
	}
}

// verb is the first argument of the child process; the library's file follows.
const verb = "plugin-serve"

// init runs before any main, so that every program and test that plays with libraries can load them.
func init() {
	if len(os.Args) == 3 && os.Args[1] == verb {
		_ = serve(os.Args[2])
		os.Exit(1)
	}
}

// serve runs the child process: it loads a library and answers requests until the parent ends. It returns only after an
// error, which the parent has been sent.
func serve(file string) error {
	runtime.LockOSThread()
	in, out, err := childPipes()
	if err != nil {
		return err
	}
	// Requests are read in a goroutine of their own, so that a child in an endless call notices the end of its parent.
	requests := make(chan *request)
	go func() {
		for from := gob.NewDecoder(in); ; {
			q := new(request)
			if from.Decode(q) != nil {
				os.Exit(0)
			}
			requests <- q
		}
	}()
	to := gob.NewEncoder(out)
	lib, err := load(file)
	if err != nil {
		_ = to.Encode(Answer{Text: err.Error(), Failed: true})
		return err
	}
	for err = to.Encode(Answer{}); err == nil; {
		err = to.Encode(lib.answer(<-requests))
	}
	return err
}

// answer calls the function that a request names.
func (l *library) answer(q *request) (a Answer) {
	switch q.Function {
	case "wt_open":
		if l.solver != 0 {
			l.end()
		}
		a = l.begin(q.Options)
	case "wt_update":
		l.set(q)
		a.Code = l.call(l.update, uintptr(l.solver), uintptr(unsafe.Pointer(&l.f)), uintptr(unsafe.Pointer(&l.current)),
			uintptr(unsafe.Pointer(&l.next)), l.fresh)
		if a.Code < 0 {
			a.Text = l.why()
		}
	case "wt_close":
		a.Code = l.end()
	}
	return a
}

// A request asks the child to call a function of the library. Both sides talk in encoding/gob, over two pipes.
type request struct {
	Function string // wt_open, wt_update or wt_close
	Options  string // of wt_open

	// The arguments of wt_update.
	Field     wintetris.Field
	Now, Next wintetris.Block
	Fresh     bool // the piece's first tick
}

// An Answer is what a function of the library has returned. The child also sends one when it has loaded the library. An
// Answer with a negative Code is also an error: the solver refused a call or failed.
type Answer struct {
	Code   int32  // bits, or 0
	Text   string // of wt_last_error, if Code is negative
	Failed bool   // the process cannot go on: Text says why
}

var codeNames = map[int32]string{-1: "bad handle", -2: "bad argument", -3: "internal error"}

func (a *Answer) Error() string {
	text := fmt.Sprintf("wt_update answered %d (%s)", a.Code, cmp.Or(codeNames[a.Code], "unknown failure"))
	if a.Text != "" {
		text += ": " + a.Text
	}
	return text
}

// printable returns a library's text as one line without control characters.
func printable(text []byte) string {
	return ansi.Plain(strings.TrimRight(string(text), "\x00"), mostAnswer)
}
