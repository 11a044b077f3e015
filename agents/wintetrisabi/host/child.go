package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// ServeArgument is the first argument of the child process; the library's file follows.
const ServeArgument = "plugin-serve"

// Serve runs the child process: it loads a library and answers the parent's frames. When the
// parent ends, so does the process. Serve returns only after an error, which it has sent to the
// parent; the process must then exit. Call it from main's goroutine.
func Serve(file string) error {
	runtime.LockOSThread()
	in, out, err := childPipes()
	if err != nil {
		return err
	}
	return serve(in, out, file)
}

func serve(in io.Reader, out io.Writer, file string) error {
	// Frames are read in a goroutine of their own, so that a child in an endless call notices
	// the end of its parent.
	frames := make(chan []byte)
	go func() {
		for {
			buf := frameBuffer()
			op, body, err := readFrame(in, buf)
			if err != nil {
				os.Exit(0)
			}
			frames <- append([]byte{op}, body...)
		}
	}()
	s := &server{out: out}
	var err error
	if s.lib, err = load(file); err != nil {
		_, _ = writeFrame(out, nil, opFailed, []byte(err.Error()))
		return err
	}
	for err = s.answer(0, ""); err == nil; {
		f := <-frames
		err = s.handle(f[0], f[1:])
	}
	return err
}

// A server is the child's side.
type server struct {
	lib    *library
	out    io.Writer
	solver int64
	body   []byte
	buf    []byte
}

func (s *server) handle(op byte, body []byte) error {
	switch op {
	case opOpen:
		if s.solver != 0 {
			s.lib.end(s.solver)
			s.solver = 0
		}
		h, err := s.lib.begin(string(body))
		if err != nil {
			return s.answer(-1, err.Error())
		}
		s.solver = h
		return s.answer(0, "")
	case opUpdate:
		if err := s.lib.c.parse(body); err != nil {
			return err
		}
		code := s.lib.ask(s.solver)
		if code < 0 {
			return s.answer(code, s.lib.why(s.solver))
		}
		return s.answer(code, "")
	case opClose:
		return s.answer(s.lib.end(s.solver), "")
	}
	return fmt.Errorf("frame %q", op)
}

func (s *server) answer(code int32, text string) (err error) {
	if len(text) > maxFrame-4 {
		return errors.New("answer too long")
	}
	s.body = append(binary.LittleEndian.AppendUint32(s.body[:0], uint32(code)), text...)
	s.buf, err = writeFrame(s.out, s.buf, opAnswer, s.body)
	return err
}
