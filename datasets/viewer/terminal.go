package viewer

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"blockyard/env"
	"blockyard/env/dropblox"
)

// A History is a Dropblox history folder, turn by turn: what the terminal shows of it.
type History struct {
	Program string // that played, as the folder says

	replay *commands
	at     int
	err    error // of the turn shown last
}

// IsHistory reports whether a path is a history folder: it has a file state0.
func IsHistory(path string) bool { return holdsHistory(path) }

// OpenHistory reads a history folder. If the files of a turn cannot be read, the history ends before it and
// Err says why; without a first turn, OpenHistory returns that error.
func OpenHistory(path string) (*History, error) {
	at := folder{path, filepath.ToSlash(path)}
	d := dir{folder: at}
	d.look()
	h := &History{replay: newCommands(&history{folder: &at})}
	if d.entry != nil {
		h.Program = strings.Join(d.entry.Players, ", ")
	}
	h.replay.advance(time.Now().Add(time.Hour))
	if h.Len() == 0 {
		return nil, cmp.Or(h.Err(), fmt.Errorf("%s: no states", path))
	}
	return h, nil
}

// At is the current turn, Len the number of turns.
func (h *History) At() int  { return h.at }
func (h *History) Len() int { return len(h.replay.steps.starts) }

// Err is the error that ends the history early, or nil.
func (h *History) Err() error {
	_, _, err := h.replay.of.state()
	return errors.Join(err, h.err)
}

// Seek goes to turn n, or to the nearest one that there is.
func (h *History) Seek(n int) { h.at = max(0, min(n, h.Len()-1)) }

// Show paints the position before the current turn.
func (h *History) Show(f *env.Frame) {
	f.Reset()
	c := h.replay
	if _, h.err = c.frame(c.steps.starts[h.at]); h.err != nil {
		return
	}
	c.picture(f)
	for k := range c.pos.Preview {
		b := c.pos.Preview[k]
		low := dropblox.NewShape(&b).Turn[0].Low
		b.Center = dropblox.Cell{I: -low.I, J: -low.J}
		lay(f.Add(fmt.Sprintf("next %d", k+1), 10, 10), &b, env.CellPiece)
	}
}

// Notes are lines about the current turn, which Show has painted.
func (h *History) Notes() []string {
	if h.err != nil {
		return []string{h.err.Error()}
	}
	c := h.replay
	line := fmt.Sprintf("score %d", c.pos.Score)
	switch {
	case c.pos.Failed:
		return []string{c.ending(h.at)}
	case len(c.words) > 0:
		line += ", commands " + strings.Join(c.words, " ")
	case h.at < h.Len()-1:
		line += ", no commands"
	}
	return []string{line}
}

// Newest returns what was written last in a folder: its folder "history" if there is one, otherwise the
// newest file of records or history folder in it or below. It returns an error if there is nothing.
func Newest(below string) (string, error) {
	path := filepath.Join(below, "history")
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return path, nil
	}
	path = newest(below, func(path, _ string, history bool) int64 {
		if history {
			path = filepath.Join(path, "state0")
		}
		if st, err := os.Stat(path); err == nil {
			return st.ModTime().UnixNano()
		}
		return 0
	})
	if path == "" {
		return "", errors.New("neither a folder history nor a file *.jsonl or *.jsonl.gz is here: name what to show")
	}
	return path, nil
}

// NewestHistory returns the history folder below a folder whose game began last. It returns an error
// if there is none.
func NewestHistory(below string) (string, error) {
	path := newest(below, func(path, shown string, history bool) int64 {
		d := dir{folder: folder{path, shown}}
		if history {
			d.look()
		}
		if d.entry == nil {
			return 0
		}
		return d.entry.Time
	})
	if path == "" {
		return "", fmt.Errorf("%s: no history folder here or below, want one with a file state0", below)
	}
	return path, nil
}

// newest returns the file of records or history folder at the latest time; "" if no time is above 0.
func newest(below string, timeOf func(path, shown string, history bool) int64) (path string) {
	last := int64(0)
	(&Library{}).find(folder{path: below}, func(at, shown string, history bool) {
		if when := timeOf(at, shown, history); when > last {
			path, last = at, when
		}
	})
	return path
}
