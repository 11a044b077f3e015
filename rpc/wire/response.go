package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// ReadResponse reads one response from r, for clients, and decodes its result into the value that into
// points to; nil skips the result. failure is the server's error, if it sent one. A response has at most MaxResponse
// bytes, and a size that it claims allocates nothing: memory grows with the bytes that have arrived.
func ReadResponse(r *bufio.Reader, into any) (id uint32, failure *Error, err error) {
	b, err := readValue(r)
	if err != nil {
		return 0, nil, err
	}
	t, _ := readToken(b)
	if kind := b[min(t.head, len(b)-1)]; t.count != 4 || kind != Response {
		return 0, nil, fmt.Errorf("received an array of %d elements that begins with %d, want a response (4 and 1)",
			t.count, kind)
	}
	d := msgpack.GetDecoder()
	defer msgpack.PutDecoder(d)
	d.Reset(bytes.NewReader(b[t.head+1:]))
	if id, err = d.DecodeUint32(); err != nil {
		return 0, nil, err
	}
	if err := d.Decode(&failure); err != nil {
		return id, nil, fmt.Errorf("the error of response %d: %w", id, err)
	}
	if into == nil || failure != nil {
		return id, failure, d.Skip()
	}
	if err := d.Decode(into); err != nil {
		return id, nil, fmt.Errorf("the result of response %d: %w", id, err)
	}
	return id, nil, nil
}

// readValue reads the bytes of one array with all that is in it. It returns io.EOF if there is none.
func readValue(r *bufio.Reader) (b []byte, err error) {
	s, need := scanner{many: true}, 1
	for {
		if b, err = take(b, r, need-len(b)); err != nil {
			if need > 1 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if !isArray(b[0]) {
			return nil, fmt.Errorf("received a message that is no array, want a response")
		}
		var done bool
		if done, need, err = s.next(b, MaxResponse); err != nil {
			return nil, fmt.Errorf("received a response that cannot be read: %v", err)
		}
		if done {
			return b, nil
		}
	}
}

// take appends n bytes of r to b. It makes room for at most as many as b has, or takeAtOnce, before they arrive.
func take(b []byte, r io.Reader, n int) ([]byte, error) {
	for n > 0 {
		k := min(n, max(len(b), takeAtOnce))
		b = slices.Grow(b, k)
		part := b[len(b) : len(b)+k]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, err
		}
		b = b[:len(b)+k]
		n -= k
	}
	return b, nil
}

const takeAtOnce = 1 << 16

// MaxResponse is the largest response that a client reads, in bytes.
const MaxResponse = 1 << 30
