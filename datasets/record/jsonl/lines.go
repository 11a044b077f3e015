// Package jsonl reads files with one JSON value per line, plain or compressed with gzip, whatever their name.
package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/klauspost/compress/gzip"
)

// ErrCut means that a file ends in the middle of a line or of its compressed data: it is not all written.
var ErrCut = errors.New("the file ends in the middle of a line")

// What a Reader accepts, in bytes of uncompressed data. A small compressed file can hold a great deal.
const (
	MaxLine  = 16 << 20 // of a line
	MaxBlank = 1 << 20  // of blank lines in a row
	MaxBytes = 16 << 30 // of a file, unless Limit says otherwise
)

const size = 64 << 10 // how many bytes are read at a time

// A Reader reads the lines of a file. Its errors name the file and the line.
type Reader struct {
	name   string
	source source
	in     *bufio.Reader // of source
	closer io.Closer
	zipped bool
	most   int64  // bytes of the file that are read
	raise  string // how to read more, for the error

	buf    []byte
	line   int
	offset int64 // of the byte after the last line, in the uncompressed data
	skip   int64 // bytes before the next line
	blanks int   // bytes of blank lines since the last other line
	within bool  // an error, such as that of the context, came in the middle of a line
	cut    bool  // the last line had no end
	broken bool  // the compressed data ends too early
}

// A source is the uncompressed data until its context ends.
type source struct {
	io.Reader
	ctx context.Context // nil if nothing ends the reading
}

func (s *source) Read(p []byte) (int, error) {
	if s.ctx != nil && s.ctx.Err() != nil {
		return 0, s.ctx.Err()
	}
	return s.Reader.Read(p)
}

// Open opens the file at path; "-" is standard input.
func Open(path string) (*Reader, error) {
	if path == "-" {
		return New("standard input", os.Stdin)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a folder, want a file: datasets view --web shows the games of a folder", path)
	}
	return open(path, path, 0)
}

// OpenAt opens the regular file at path behind its first lines, which have so many bytes uncompressed. A shorter file
// reads as empty. Errors call the file name. Of a compressed file, the first call of Next reads what lies before.
func OpenAt(name, path string, lines int, bytes int64) (*Reader, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: want a regular file", name)
	}
	r, err := open(name, path, bytes)
	if err == nil {
		r.line, r.offset = lines, bytes
	}
	return r, err
}

func open(name, path string, bytes int64) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := New(name, f)
	if err == nil && r.zipped {
		r.skip = bytes
	} else if err == nil && bytes > 0 {
		_, err = f.Seek(bytes, io.SeekStart)
		r.source.Reader = f
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

// New returns a Reader for in; errors call it name.
func New(name string, in io.Reader) (*Reader, error) {
	plain := bufio.NewReaderSize(in, size)
	r := &Reader{name: name, source: source{Reader: plain}, most: MaxBytes, raise: "split it"}
	r.in = bufio.NewReaderSize(&r.source, size)
	magic, err := plain.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if r.zipped = string(magic) == "\x1f\x8b"; !r.zipped {
		return r, nil
	}
	r.source.Reader, err = gzip.NewReader(plain)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.cut, r.broken = true, true
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Use lets the end of ctx end Next, after 64 KiB at most and unless it waits for data. Next can go on with another one.
func (r *Reader) Use(ctx context.Context) { r.source.ctx = ctx }

// Limit sets how many bytes of the file are read, uncompressed, and how to read more, such as "raise --max-bytes".
func (r *Reader) Limit(bytes int64, raise string) { r.most, r.raise = bytes, raise }

// Next returns the next line that is not blank, without its line end. The line is valid until the next call. At the
// end of the file Next returns io.EOF, or an error that wraps ErrCut if the compressed data is incomplete.
func (r *Reader) Next() ([]byte, error) {
	if r.skip > 0 && !r.cut {
		n, err := r.in.Discard(int(r.skip))
		r.skip -= int64(n)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, r.Errorf("%w", err)
		}
		r.skip = 0
	}
	for {
		line, err := r.read()
		if err != nil {
			return nil, err
		}
		size := len(line)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			r.blanks = 0
			return line, nil
		}
		if r.blanks += size; r.blanks > MaxBlank {
			return nil, r.Errorf("more than %d bytes of blank lines: remove them", MaxBlank)
		}
	}
}

// All yields the lines that Next returns. It ends at the end of the file or after an error.
func (r *Reader) All() iter.Seq2[[]byte, error] { return All(r.Next) }

// All yields what next returns, until io.EOF or after another error.
func All[T any](next func() (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := next()
			if errors.Is(err, io.EOF) || !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) read() ([]byte, error) {
	switch {
	case r.within:
	case r.broken:
		return nil, r.Errorf("%w", ErrCut)
	case r.cut:
		return nil, io.EOF
	default:
		r.buf = r.buf[:0]
		r.line++
	}
	r.within = false
	for {
		part, err := r.in.ReadSlice('\n')
		if len(r.buf)+len(part) > MaxLine {
			return nil, r.Errorf("the line is too long: want at most %d bytes", MaxLine)
		}
		r.buf = append(r.buf, part...)
		if r.offset += int64(len(part)); r.offset > r.most {
			return nil, r.Errorf("the file has more than %d bytes uncompressed: %s", r.most, r.raise)
		}
		switch {
		case err == nil:
			return r.buf, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(r.buf) == 0:
			return nil, io.EOF
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			r.cut, r.broken = true, errors.Is(err, io.ErrUnexpectedEOF)
			if len(r.buf) == 0 {
				return nil, r.Errorf("%w", ErrCut)
			}
			return r.buf, nil
		default:
			r.within = true
			return nil, r.Errorf("%w", err)
		}
	}
}

// Cut reports whether the last line that Next returned ends the file without a line end. It may then be incomplete.
func (r *Reader) Cut() bool { return r.cut }

// Compressed reports whether the file is read through gzip.
func (r *Reader) Compressed() bool { return r.zipped }

// Line returns the number of the last line that Next returned, from 1; it is 0 before the first.
func (r *Reader) Line() int { return r.line }

// Offset returns the number of uncompressed bytes of the lines read so far.
func (r *Reader) Offset() int64 { return r.offset }

// Name returns the path of the file, or what New was told to call it in errors.
func (r *Reader) Name() string { return r.name }

// Errorf returns an error that begins with the file and the line.
func (r *Reader) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.name, r.line, fmt.Errorf(format, args...))
}

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}
