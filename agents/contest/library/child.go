package library

import (
	"cmp"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"blockyard/env/ansi"
	"blockyard/env/wintetris"
)

// ServeArgument is the first argument of the child process; the library's file follows.
const ServeArgument = "plugin-serve"

// Serve runs the child process: it loads a library and answers the parent's requests. When the
// parent ends, so does the process. Serve returns only after an error, which it has sent to the
// parent; the process must then exit. Call it from main's goroutine.
func Serve(file string) error {
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
	return answer(file, requests, out)
}

func answer(file string, requests <-chan *request, out io.Writer) error {
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

// A request asks the child to call a function of the library. Parent and child exchange
// requests and answers with encoding/gob, over two pipes.
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
