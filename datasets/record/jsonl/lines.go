// Package jsonl reads files with one JSON value per line, plain or compressed with gzip. It detects
// compression from the first bytes of a file, not from its name.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/klauspost/compress/gzip"
)

// ErrCut means that a file ends in the middle of a line or of its compressed data, because it is still
// being written or its writer was killed.
var ErrCut = errors.New("the file ends in the middle of a line")

// A Reader reads the lines of a file. Its errors name the file and the line.
type Reader struct {
	bounds

	name   string
	in     *bufio.Reader
	closer io.Closer
	buf    []byte
	line   int
	offset int64 // of the byte after the last line, in the uncompressed data
	cut    bool  // the last line had no end
	broken bool  // the compressed data ends too early
	zipped bool
	blank  bool
}

// Open opens the file at path; "-" is standard input.
func Open(path string) (*Reader, error) {
	if path == "-" {
		return New("standard input", os.Stdin)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a folder, want a file: datasets view --web shows the games of a folder", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := New(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

// OpenAt opens the regular file at path behind its first lines, which have so many bytes uncompressed. A
// shorter file reads as empty. Errors call the file name. Of a compressed file, the first call of Next reads
// what lies before.
func OpenAt(name, path string, lines int, bytes int64) (*Reader, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: want a regular file", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := New(name, f)
	if err == nil && r.zipped {
		r.skip = bytes
	} else if err == nil {
		_, err = f.Seek(bytes, io.SeekStart)
		r.in.Reset(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer, r.line, r.offset = f, lines, bytes
	return r, nil
}

// New returns a Reader for in; errors call it name.
func New(name string, in io.Reader) (*Reader, error) {
	plain := bufio.NewReaderSize(in, 64<<10)
	r := &Reader{name: name, in: plain, bounds: bounds{most: MaxBytes, raise: "split it"}}
	magic, err := plain.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.blank = len(magic) == 0
	if len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		r.zipped = true
		unzip, err := gzip.NewReader(plain)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			r.in, r.cut, r.broken = bufio.NewReader(bytes.NewReader(nil)), true, true
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		default:
			r.in = bufio.NewReaderSize(unzip, 64<<10)
		}
	}
	return r, nil
}

// Next returns the next line that is not blank, without its line end. The line is valid until the next
// call. At the end of the file Next returns io.EOF, or an error that wraps ErrCut if the compressed data
// is incomplete.
func (r *Reader) Next() ([]byte, error) {
	if err := r.behind(); err != nil {
		return nil, err
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
func (r *Reader) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			line, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) read() ([]byte, error) {
	if !r.within {
		r.buf = r.buf[:0]
		if r.cut {
			if r.broken {
				return nil, r.Errorf("%w", ErrCut)
			}
			return nil, io.EOF
		}
		r.line++
	}
	for {
		err := r.heard()
		if r.within = err != nil; r.within {
			return nil, err
		}
		part, err := r.in.ReadSlice('\n')
		r.unheard += len(part)
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
			return nil, r.Errorf("%w", err)
		}
	}
}

// Cut reports whether the last line that Next returned ends the file without a line end. It may then be
// incomplete.
func (r *Reader) Cut() bool { return r.cut }

// Compressed reports whether the file is compressed.
func (r *Reader) Compressed() bool { return r.zipped }

// Blank reports whether the file is empty.
func (r *Reader) Blank() bool { return r.blank }

// Line is the number of the last line that Next returned, from 1.
func (r *Reader) Line() int { return r.line }

// Offset is the number of uncompressed bytes of the lines read so far.
func (r *Reader) Offset() int64 { return r.offset }

// Name is the file's name.
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
