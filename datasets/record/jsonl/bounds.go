package jsonl

import (
	"context"
	"errors"
	"io"
)

// What a Reader accepts, in bytes of uncompressed data. A small compressed file can hold a great deal.
const (
	MaxLine  = 16 << 20 // of a line
	MaxBlank = 1 << 20  // of blank lines in a row
	MaxBytes = 16 << 30 // of a file, unless Limit says otherwise
)

// hearEvery is how many bytes are read between two looks at the context.
const hearEvery = 64 << 10

// bounds are what keeps a Reader from reading for ever.
type bounds struct {
	ctx     context.Context // nil if nothing ends the reading
	unheard int             // bytes since ctx was looked at
	most    int64           // bytes of the file that are read
	raise   string          // how to read more, for the error
	skip    int64           // bytes before the next line
	blanks  int             // bytes of blank lines since the last other line
	within  bool            // the context ended in the middle of a line
}

// Use makes Next return an error that wraps the context's when ctx has ended, after 64 KiB at most. Next can be
// called again with another context: nothing is lost. A read that waits for data is not interrupted.
func (r *Reader) Use(ctx context.Context) { r.ctx = ctx }

// Limit sets how many bytes of the file are read, at least 1, uncompressed and with those that OpenAt has
// skipped. raise is for the error: what to do to read more, such as "raise --max-bytes".
func (r *Reader) Limit(bytes int64, raise string) { r.most, r.raise = bytes, raise }

// behind skips what OpenAt left before the next line.
func (r *Reader) behind() error {
	for r.skip > 0 {
		n, err := r.in.Discard(int(min(r.skip, hearEvery)))
		r.skip -= int64(n)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			r.skip = 0
		case err != nil:
			return r.Errorf("%w", err)
		}
		r.unheard += n
		if err := r.heard(); err != nil {
			return err
		}
	}
	return nil
}

// heard returns the error of a context that has ended. It looks at the context often enough, and not for every
// line.
func (r *Reader) heard() error {
	if r.ctx == nil || r.unheard < hearEvery {
		return nil
	}
	if err := r.ctx.Err(); err != nil {
		return r.Errorf("%w", err)
	}
	r.unheard = 0
	return nil
}
