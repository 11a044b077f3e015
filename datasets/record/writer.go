package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"blockyard/env"

	"github.com/klauspost/compress/gzip"
)

// partChoices is the largest number of choices in one line. With its draws the line is far shorter than
// the longest one that a Reader accepts.
const partChoices = 1 << 17

// A Writer writes records. Several goroutines may use it at once. Records are in the file after Flush or
// Close.
type Writer struct {
	mu   sync.Mutex
	out  *bufio.Writer
	zip  *gzip.Writer // between out and file, if the file is compressed
	file *os.File
	temp string // the name of the file until Close; "" if it already has its own
	path string
}

// NewWriter writes plain lines to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: bufio.NewWriter(w)}
}

// Create creates a file of records, compressed if its name ends in .gz. The file gets its name, and
// replaces an older file, when Close succeeds.
func Create(path string) (*Writer, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	w := onFile(f, strings.HasSuffix(path, ".gz"))
	w.temp, w.path = f.Name(), path
	return w, nil
}

func onFile(f *os.File, compressed bool) *Writer {
	w := &Writer{file: f}
	if compressed {
		w.zip = gzip.NewWriter(f)
		w.out = bufio.NewWriter(w.zip)
	} else {
		w.out = bufio.NewWriter(f)
	}
	return w
}

// Write writes one game. A very long one takes several lines.
func (w *Writer) Write(rec *Record) error {
	if err := rec.Validate(); err != nil {
		return fmt.Errorf("record of %s: %w", rec.Game, err)
	}
	if len(rec.Choices) <= partChoices && len(rec.Draws) <= partChoices {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.line(rec)
	}
	head := *rec
	head.Choices, head.Draws, head.Values = nil, nil, nil
	long, err := w.Begin(&head)
	if err != nil {
		return err
	}
	if err := long.Add(rec.Choices, rec.Draws, rec.Values); err != nil {
		long.give()
		return err
	}
	return long.End(rec.Scores, rec.Results, rec.Stopped)
}

func (w *Writer) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if _, err = w.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Flush writes all buffered records to the file.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *Writer) flush() error {
	if err := w.out.Flush(); err != nil {
		return err
	}
	if w.zip != nil {
		return w.zip.Flush()
	}
	return nil
}

// Close flushes and gives the file its name. A second call does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.out.Flush()
	if w.file == nil {
		return err
	}
	if w.zip != nil {
		err = errors.Join(err, w.zip.Close())
	}
	err = errors.Join(err, w.file.Close())
	if w.temp != "" && err == nil {
		err = os.Rename(w.temp, w.path)
	}
	w.file, w.zip, w.out = nil, nil, bufio.NewWriter(closed{})
	return err
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

// Discard closes and removes a file that Create created. After Close it does nothing, so it can be
// deferred.
func (w *Writer) Discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return
	}
	w.file.Close()
	if w.temp != "" {
		os.Remove(w.temp)
	}
	w.file, w.zip, w.out = nil, nil, bufio.NewWriter(closed{})
}

// A Long is a game that is written in parts while it is played, so that it need not fit into memory. Until
// its End, other goroutines that write to the same Writer wait.
type Long struct {
	w    *Writer
	part Record
}

// Begin starts a long game. head has all fields except the choices, draws, values and the end.
func (w *Writer) Begin(head *Record) (*Long, error) {
	if err := head.validHead(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	l := &Long{w: w, part: *head}
	l.part.Part, l.part.Scores, l.part.Results, l.part.Stopped = 0, nil, nil, false
	return l, nil
}

// Add appends choices, and draws and values if the game has them.
func (l *Long) Add(choices []env.Action, draws [][]uint16, values []float32) error {
	if len(values) != 0 && len(values) != len(choices) {
		return fmt.Errorf("%w: %d values, want none or one for each of the %d choices", ErrInvalid, len(values), len(choices))
	}
	for len(choices) > 0 || len(draws) > 0 {
		n, d := min(partChoices, len(choices)), min(partChoices, len(draws))
		v := min(n, len(values))
		l.part.Choices = append(l.part.Choices, choices[:n]...)
		l.part.Draws = append(l.part.Draws, draws[:d]...)
		l.part.Values = append(l.part.Values, values[:v]...)
		choices, draws, values = choices[n:], draws[d:], values[v:]
		if len(l.part.Choices) >= partChoices || len(l.part.Draws) >= partChoices {
			if err := l.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Long) next() error {
	l.part.More = true
	if err := l.w.line(&l.part); err != nil {
		return err
	}
	p := l.part
	l.part = Record{Part: p.Part + 1, Choices: p.Choices[:0], Draws: p.Draws[:0], Values: p.Values[:0]}
	return nil
}

// End ends the game and lets other goroutines write again.
func (l *Long) End(scores []int, results []float32, stopped bool) error {
	defer l.give()
	l.part.More, l.part.Scores, l.part.Results, l.part.Stopped = false, scores, results, stopped
	return l.w.line(&l.part)
}

func (l *Long) give() {
	if l.w != nil {
		l.w.mu.Unlock()
		l.w = nil
	}
}
