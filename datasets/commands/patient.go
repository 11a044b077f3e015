package commands

import (
	"context"
	"io"
)

// A patient reader waits for data, or for the end of its context, which a pipe does not hear.
type patient struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader. After an end of the context, a read of the source may still wait; p is then
// not written to.
func (r patient) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text := make([]byte, len(p))
		n, err := r.in.Read(text)
		done <- result{text[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.text), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}
