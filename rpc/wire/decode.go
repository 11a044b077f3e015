package wire

import "io"

// firstRead is the number of bytes read of a message before its length is known.
const firstRead = 4096

// A Reader reads messages from a connection. Its memory grows with the bytes that have arrived, up to the limit.
type Reader struct {
	r    io.Reader
	rest []byte // bytes of the next message, already read
	mem  [firstRead]byte

	// Limit returns the largest length of a message for a method. With method nil it returns the
	// largest length of the part of a message up to its method.
	Limit func(method []byte) int
	// Grow is called before a frame's memory grows by n bytes beyond firstRead. The message is known to need owed bytes
	// more than that. An error refuses it.
	Grow func(n, owed int) error
	// Partial is called with true when the first bytes of a message have arrived but not all, and
	// with false when the message is complete.
	Partial func(bool)
}

// NewReader returns a Reader of messages from r, whose Limit, Grow and Partial the caller may replace.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: r, Limit: func([]byte) int { return firstRead },
		Grow: func(int, int) error { return nil }, Partial: func(bool) {}}
}

// Buffered returns how many bytes of the next message have been read already.
func (r *Reader) Buffered() int { return len(r.rest) }

// Next reads the next message into f. It returns io.EOF if the connection ends between messages,
// io.ErrUnexpectedEOF if it ends within one, an *Error with code 100 or 101 for an invalid message (then
// f.ID is its id, if that has arrived), or an error of the connection.
func (r *Reader) Next(f *Frame) error {
	f.Kind, f.ID, f.Method, f.size, f.nargs, f.err = 0, 0, nil, 0, 0, nil
	f.scan = scanner{}
	if cap(f.buf) < firstRead {
		f.buf = make([]byte, 0, firstRead)
	}
	f.buf = append(f.buf[:0], r.rest...)
	r.rest = r.mem[:0]
	limit, partial := r.Limit(nil), false
	named := false
	defer func() {
		if partial {
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
			r.Partial(true)
		}
		if err := r.fill(f, need, limit); err != nil {
			return err
		}
	}
}

// fill reads once. Before, it makes room for what the message needs, but at most twice what has arrived,
// so that a claimed size alone allocates nothing.
func (r *Reader) fill(f *Frame, need, limit int) error {
	if room := min(need, max(2*len(f.buf), firstRead)); room > cap(f.buf) {
		if err := r.Grow(room-cap(f.buf), need-room); err != nil {
			return err
		}
		f.Held += room - cap(f.buf)
		f.buf = append(make([]byte, 0, room), f.buf...)
	}
	// At most firstRead bytes after the message may be read too, because they must fit into rest.
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
