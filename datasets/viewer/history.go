package viewer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"blockyard/env/dropblox"
)

// Limits of a history folder.
const (
	maxTurns = 1 << 20
	maxText  = 4 << 20 // bytes of a state or a move file
)

// settling is how long an invalid file may be one that is still being written, and quiet how long a
// running game may take between changes.
const (
	settling = 3 * time.Second
	quiet    = 305 * time.Second
)

// texts are the files of a history folder (rules §10), on disk or posted.
type texts interface {
	// text returns a file's text, or an error that wraps fs.ErrNotExist.
	text(name string) ([]byte, error)
	// changed is the time of the last change.
	changed() time.Time
	name() string
}

// A history is a history folder as turns.
type history struct {
	texts
	known   int // turns in the steps
	given   bool
	over    bool
	reading bool
	err     error
}

// grow implements turns with the states and moves found so far.
func (h *history) grow(deadline time.Time, into *steps) {
	h.reading = false
	for n := 0; h.err == nil && h.known < maxTurns; n++ {
		if n >= 8 && time.Now().After(deadline) {
			h.reading = true
			return
		}
		if h.known > 0 && !h.given && !h.over {
			h.moves(into)
		}
		if !h.next(into) {
			return
		}
	}
}

// next adds the next state and reports whether there is one.
func (h *history) next(into *steps) bool {
	p, err := h.position(h.known)
	switch {
	case err == nil:
		into.add(p.Score)
		h.known, h.given, h.over = h.known+1, false, p.Failed
		return true
	case errors.Is(err, fs.ErrNotExist) && h.known > 0:
		return false
	case time.Since(h.changed()) < settling && h.known > 0:
		return false
	}
	h.err = err
	return false
}

// moves adds the commands of the last known turn, if they exist.
func (h *history) moves(into *steps) {
	words, err := h.commands(h.known - 1)
	switch {
	case err == nil:
		into.extend(len(words))
		h.given = true
	case errors.Is(err, fs.ErrNotExist):
	case time.Since(h.changed()) > settling:
		h.err = err
	}
}

func (h *history) position(t int) (*dropblox.Position, error) {
	name := fmt.Sprintf("state%d", t)
	text, err := h.text(name)
	if err != nil {
		return nil, err
	}
	p, err := dropblox.ParsePosition(text)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", h.name(), name, err)
	}
	return p, nil
}

func (h *history) commands(t int) ([]string, error) {
	name := fmt.Sprintf("move%d", t)
	text, err := h.text(name)
	if err != nil {
		return nil, err
	}
	var words []string
	if err := json.Unmarshal(text, &words); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", h.name(), name, err)
	}
	for k, w := range words {
		words[k] = short(w, 20)
	}
	return words, nil
}

func (h *history) turn(t int) (*dropblox.Position, []string, error) {
	p, err := h.position(t)
	if err != nil {
		return nil, nil, err
	}
	words, err := h.commands(t)
	if err != nil && (t < h.known-1 || h.given) && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	return p, words, nil
}

func (h *history) state() (reading, live bool, err error) {
	live = !h.over && h.err == nil && time.Since(h.changed()) < quiet
	return h.reading, live, h.err
}

// A folder is a history folder on the disk.
type folder struct{ path, shown string }

func (d *folder) name() string { return d.shown }

func (d *folder) text(name string) ([]byte, error) {
	path := filepath.Join(d.path, name)
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxText {
		return nil, fmt.Errorf("%s/%s: want a regular file of at most %d bytes", d.shown, name, maxText)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText))
}

func (d *folder) changed() time.Time {
	st, err := os.Stat(d.path)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}
