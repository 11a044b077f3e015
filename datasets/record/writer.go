package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"blockyard/datasets/program/disk"

	"github.com/klauspost/compress/gzip"
)

// partChoices bounds the choices, and the draws, of a line, which is then far shorter than Readers accept.
const partChoices = 1 << 17

// A Writer writes records. Several goroutines may use it at once. The records are in the file after Close.
type Writer struct {
	mu   sync.Mutex
	out  *bufio.Writer
	zip  *gzip.Writer // between out and file, if the file is compressed
	file *os.File
	end  func(keep bool) error // closes the file, and removes it unless it is to be kept; nil without a file, or after it
}

// NewWriter writes plain lines to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: bufio.NewWriter(w)}
}

// Create creates a file of records, compressed if its name ends in .gz. It has its name after Close.
func Create(path string) (*Writer, error) { return create(path, strings.HasSuffix(path, ".gz")) }

func create(path string, compressed bool) (*Writer, error) {
	f, err := disk.Create(path, 0o644)
	if err != nil {
		return nil, err
	}
	return onFile(f.File, compressed, func(keep bool) error {
		if keep {
			return f.Commit()
		}
		f.Discard()
		return nil
	}), nil
}

func onFile(f *os.File, compressed bool, end func(keep bool) error) *Writer {
	w := &Writer{file: f, out: bufio.NewWriter(f), end: end}
	if compressed {
		w.zip = gzip.NewWriter(f)
		w.out.Reset(w.zip)
	}
	return w
}

// Write writes one game. A very long one takes several lines.
func (w *Writer) Write(rec *Record) error {
	if err := rec.Validate(); err != nil {
		return fmt.Errorf("record of %s: %w", rec.Game, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(rec.Choices) <= partChoices && len(rec.Draws) <= partChoices {
		return w.line(rec)
	}
	for rest := *rec; ; {
		n, d := min(partChoices, len(rest.Choices)), min(partChoices, len(rest.Draws))
		v := min(n, len(rest.Values))
		part := rest
		part.Choices, part.Draws, part.Values = rest.Choices[:n], rest.Draws[:d], rest.Values[:v]
		// A full line is never the last one, even if nothing is left.
		if part.More = n == partChoices || d == partChoices; part.More {
			part.Scores, part.Results, part.Stopped = nil, nil, false
		}
		if err := w.line(&part); err != nil || !part.More {
			return err
		}
		rest = Record{
			Part: rest.Part + 1, Choices: rest.Choices[n:], Draws: rest.Draws[d:], Values: rest.Values[v:],
			Scores: rec.Scores, Results: rec.Results, Stopped: rec.Stopped,
		}
	}
}

func (w *Writer) line(rec *Record) error {
	text, err := json.Marshal(rec)
	if err == nil {
		_, err = w.out.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// flush writes all buffered records to the file, and ends the member of a compressed one.
func (w *Writer) flush() error {
	err := w.out.Flush()
	if w.zip != nil {
		err = errors.Join(err, w.zip.Close())
	}
	return err
}

// Sync writes all records to the disk. In a compressed file it begins another gzip member.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.flush()
	if w.end == nil {
		return err
	}
	if w.zip != nil {
		w.zip.Reset(w.file)
	}
	return errors.Join(err, w.file.Sync())
}

// Close writes all buffered records and gives the file its name. A second call does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.flush()
	if w.end == nil {
		return err
	}
	return errors.Join(err, w.close(err == nil))
}

// Discard closes and removes a file that Create created. After Close it does nothing, so it can be deferred.
func (w *Writer) Discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end != nil {
		_ = w.close(false) // what is left is of no use
	}
}

func (w *Writer) close(keep bool) error {
	err := w.end(keep)
	w.out.Reset(w.file)
	w.end, w.zip = nil, nil
	return err
}

// Append opens a file of records at its end, or creates it. It removes an incomplete last record.
func Append(path string) (*Writer, error) {
	compressed := strings.HasSuffix(path, ".gz")
	if st, err := os.Stat(path); err == nil && st.Size() > 0 {
		var whole bool
		whole, compressed, err = examine(path)
		if err == nil && !whole {
			err = mend(path, compressed)
		}
		if err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return onFile(f, compressed, func(bool) error { return f.Close() }), nil
}

// Appendable returns an error if a file of records cannot be appended to; "" is no file. It leaves nothing behind.
func Appendable(path string) error {
	if path == "" {
		return nil
	}
	_, missing := os.Stat(path)
	w, err := Append(path)
	if err == nil {
		err = w.Close()
	}
	if err == nil && missing != nil {
		err = os.Remove(path)
	}
	return err
}

// AppendTo adds a record to a file, or creates it; "" is no file.
func AppendTo(path string, r *Record) error {
	if path == "" {
		return nil
	}
	w, err := Append(path)
	if err != nil {
		return err
	}
	defer w.Discard()
	if err := w.Write(r); err != nil {
		return err
	}
	return w.Close()
}

// examine reads the whole file and reports whether it is complete and whether it is compressed.
func examine(path string) (whole, compressed bool, err error) {
	r, err := Open(path)
	if err != nil {
		return false, false, err
	}
	defer r.Close()
	for err == nil {
		err = r.ReadPart(new(Record))
		if errors.Is(err, ErrPartial) || err == nil && r.Cut() {
			return false, r.Compressed(), nil
		}
	}
	if errors.Is(err, io.EOF) {
		return true, r.Compressed(), nil
	}
	return false, false, err
}

// mend rewrites a file without its incomplete last record.
func mend(path string, compressed bool) error {
	in, err := Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	in.AllowPartial = true
	w, err := create(path, compressed)
	if err != nil {
		return err
	}
	defer w.Discard()
	for rec, err := range in.All() {
		if err != nil {
			return err
		}
		if err := w.Write(rec); err != nil {
			return err
		}
	}
	return w.Close()
}
