package viewer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// A history is a history folder as turns.
type history struct {
	*folder
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
	if err == nil {
		into.add(p.Score)
		h.known, h.given, h.over = h.known+1, false, p.Failed
		return true
	}
	if h.known == 0 || !errors.Is(err, fs.ErrNotExist) && time.Since(h.changed()) >= settling {
		h.err = err
	}
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
		return nil, fmt.Errorf("%s/%s: %w", h.shown, name, err)
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
		return nil, fmt.Errorf("%s/%s: %w", h.shown, name, err)
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
	if st, err := os.Stat(d.path); err == nil {
		return st.ModTime()
	}
	return time.Time{}
}

// read creates the entry of a history folder. settled means that its newest state was readable, so that it
// need not be read again before the folder changes.
func (d *dir) read(changed time.Time) (e *entry, settled bool) {
	e = &entry{ID: d.shown, Game: "dropblox", Players: []string{"dropblox_ai"},
		Time: cmp.Or(startOf(filepath.Base(d.path)), changed.UnixMilli()),
		file: d.shown, path: d.path, number: 1, history: &d.folder, changed: changed, open: true}
	d.meta(e)
	e.Length = d.states()
	if e.Length == 0 {
		return e, false
	}
	h := history{folder: &d.folder}
	p, err := h.position(e.Length - 1)
	if err != nil {
		if time.Since(changed) > settling {
			e.Error, e.open = short(err.Error(), 1000), false
		}
		return e, e.Error != ""
	}
	e.Scores, e.open = []int{p.Score}, !p.Failed
	e.Length--
	return e, true
}

// states counts the states of the folder, from state0 without a gap.
func (d *dir) states() int {
	f, err := os.Open(d.path)
	if err != nil {
		return 0
	}
	defer f.Close()
	seen := map[string]bool{}
	for len(seen) < maxTurns {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, "state") {
				seen[name] = true
			}
		}
		if err != nil {
			break
		}
	}
	n := 0
	for seen[fmt.Sprintf("state%d", n)] {
		n++
	}
	return n
}

// meta reads the player's name from the file meta, if it exists.
func (d *dir) meta(e *entry) {
	text, _ := d.text("meta")
	var meta map[string]any
	_ = json.Unmarshal(text, &meta) // without a program's name, or any, the entry stays as it is
	name, _ := meta["program"].(string)
	if name == "" {
		return
	}
	name = short(filepath.Base(name), maxName)
	switch seed := meta["seed"].(type) {
	case string:
		name += " · seed " + short(seed, 40)
	case float64:
		name += fmt.Sprintf(" · seed %.0f", seed)
	}
	e.Players = []string{name}
}

// startOf reads the start of a game from its folder's name, "<id>_<unix time>", and returns it in
// milliseconds, 0 if the name has none.
func startOf(name string) int64 {
	at := strings.LastIndexByte(name, '_')
	sec, err := strconv.ParseInt(name[at+1:], 10, 64)
	if at < 0 || err != nil || sec <= 0 || sec > 1<<40 {
		return 0
	}
	return 1000 * sec
}
