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

// partChoices is how many choices one line holds at most: with its draws it stays far
// below the longest line a Reader accepts.
const partChoices = 1 << 17

// A Writer writes records. It may be used by several goroutines at once. What it was given
// is in the file after Flush or Close.
type Writer struct {
	mu   sync.Mutex
	out  *bufio.Writer
	zip  *gzip.Writer // between out and file, if the file is compressed
	file *os.File
	temp string // the name the file has until Close; empty if it has its own
	path string
}

// NewWriter writes plain lines to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: bufio.NewWriter(w)}
}

// Create makes a file of records, compressed if its name ends in .gz. It takes its name,
// and the place of an older file of that name, when Close succeeds.
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

// Write writes one game. A very long one goes over several lines.
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

// Flush brings everything written so far into the file, where others can read it.
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

// Close flushes and gives the file its name. It does nothing a second time.
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

// Discard closes the file without giving it its name; the records are lost. After Close it
// does nothing, so that it may be deferred.
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

// A Long is a game being written while it is played, in parts, so that it need not fit in
// memory. Until its End no other game can be written to the same Writer: they wait.
type Long struct {
	w    *Writer
	part Record
}

// Begin begins a long game. head says everything but choices, draws, values and the end.
func (w *Writer) Begin(head *Record) (*Long, error) {
	if err := head.validHead(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	l := &Long{w: w, part: *head}
	l.part.Part, l.part.Scores, l.part.Results, l.part.Stopped = 0, nil, nil, false
	return l, nil
}

// Add adds choices, and draws and values where the game has them.
func (l *Long) Add(choices []env.Action, draws [][]uint16, values []float32) error {
	if len(values) != 0 && len(values) != len(choices) {
		return fmt.Errorf("%w: %d values for %d choices", ErrInvalid, len(values), len(choices))
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

// End ends the game and lets others write again.
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
