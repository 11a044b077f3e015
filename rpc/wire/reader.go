package wire

import (
	"io"
	"strings"
)

// firstRead is how much is read of a message before its length is known.
const firstRead = 4096

// A Reader takes messages off a connection, never holding more of one than has come and
// its limit allows.
type Reader struct {
	r    io.Reader
	rest []byte // read, belonging to the next message
	mem  [firstRead]byte

	// Limit returns the greatest length of a message for a method, once that is known;
	// before, with method nil, of the part that tells it.
	Limit func(method []byte) int
	// Grow is asked before a frame's memory grows by n bytes beyond firstRead, and may
	// refuse.
	Grow func(f *Frame, n int) error
	// Partial is called when the first bytes of a message have come and more must follow,
	// and again, with false, when it is whole.
	Partial func(bool)
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: r, Limit: func([]byte) int { return firstRead }}
}

// Next reads the next message into f. The error is io.EOF at an end between messages,
// io.ErrUnexpectedEOF inside one, an *Error (100, 101) for bytes that are no acceptable
// message, with f.ID the id if it was reached, or the connection's.
func (r *Reader) Next(f *Frame) error {
	f.Kind, f.ID, f.Method, f.size, f.nargs = 0, 0, nil, 0, 0
	f.scan = scanner{}
	if cap(f.buf) < firstRead {
		f.buf = make([]byte, 0, firstRead)
	}
	f.buf = append(f.buf[:0], r.rest...)
	r.rest = r.mem[:0]
	limit, partial := r.Limit(nil), false
	named := false
	defer func() {
		if partial && r.Partial != nil {
			r.Partial(false)
		}
	}()
	for {
		if !named {
			_, ok, err := f.peek(f.buf)
			if err != nil {
				return err
			}
			if ok {
				named, limit = true, r.Limit(f.Method)
			}
		}
		done, need, err := f.scan.next(f.buf, limit)
		if err != nil {
			return err
		}
		if done {
			f.size = f.scan.pos
			r.rest = append(r.rest, f.buf[f.size:]...)
			return f.split()
		}
		if len(f.buf) > 0 && !partial {
			partial = true
			if r.Partial != nil {
				r.Partial(true)
			}
		}
		if err := r.fill(f, need, limit); err != nil {
			return err
		}
	}
}

// fill reads once, making room first: for what the message needs, but at most twice what
// has come, so that a claim alone costs nothing.
func (r *Reader) fill(f *Frame, need, limit int) error {
	if room := min(need, max(2*len(f.buf), firstRead)); room > cap(f.buf) {
		if r.Grow != nil {
			if err := r.Grow(f, room-cap(f.buf)); err != nil {
				return err
			}
		}
		grown := make([]byte, len(f.buf), room)
		copy(grown, f.buf)
		f.buf = grown
	}
	// Behind the message at most firstRead bytes may come along: they must fit into rest.
	end := min(cap(f.buf), max(need, len(f.buf))+firstRead)
	n, err := r.r.Read(f.buf[len(f.buf):end])
	f.buf = f.buf[:len(f.buf)+n]
	if n > 0 {
		return nil
	}
	if err == io.EOF && len(f.buf) > 0 {
		return io.ErrUnexpectedEOF
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// trimDecoder makes the sentence of a decoding error ours.
func trimDecoder(err error) string {
	return strings.TrimPrefix(err.Error(), "msgpack: ")
}
