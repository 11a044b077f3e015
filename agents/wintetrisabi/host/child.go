package host

import (
	"encoding/gob"
	"io"
	"os"
	"runtime"
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
	// Requests are read in a goroutine of their own, so that a child in an endless call notices
	// the end of its parent.
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

// answer answers requests until an error.
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
		if err := l.begin(q.Options); err != nil {
			return Answer{Code: -1, Text: err.Error()}
		}
	case "wt_update":
		l.set(q)
		if a.Code = l.ask(); a.Code < 0 {
			a.Text = l.why()
		}
	case "wt_close":
		a.Code = l.end()
	}
	return a
}
