package viewer

import (
	"cmp"
	"context"
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

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/dropblox"
)

const (
	maxTurns = 1 << 20
	maxText  = 4 << 20 // bytes of a state or a move file
)

// An invalid file may be still being written for settling; a running game changes within quiet.
const (
	settling = 3 * time.Second
	quiet    = 305 * time.Second
)

// A history is the game of a history folder as a record: states say which blocks and actions came, moves the commands.
type history struct {
	*folder
	rec   *record.Record
	words [][]string     // commands of the turns in rec
	state dropblox.State // after them
	over  bool           // the game has ended
	late  bool           // because its time was up
	err   error          // of the turn after those in rec
}

// openHistory reads the first state of a folder, in which a player of that name plays.
func openHistory(f *folder, player string) (*history, error) {
	p, err := f.position(0)
	if err != nil {
		return nil, err
	}
	h := &history{folder: f}
	if err := p.Restore(&h.state); err != nil {
		return nil, fmt.Errorf("%s/state0: %w", f.shown, err)
	}
	h.rec = record.New(dropblox.Game, 0, []string{player})
	h.rec.Draws = [][]uint16{nil} // what state0 drew does not matter
	h.rec.Start, err = env.Encode(nil, &h.state)
	h.note(p)
	return h, err
}

func (h *history) note(p *dropblox.Position) {
	h.over, h.late = p.Failed, p.Failed && !h.state.Failed
	h.rec.End(&h.state)
}

func (h *history) grow(ctx context.Context) {
	for h.err = nil; h.err == nil && !h.over && len(h.words) < maxTurns; {
		words, err := h.commands(len(h.words))
		if errors.Is(err, fs.ErrNotExist) { // if there is a next state, only the commands are not known
			err = nil
		}
		next, missing := h.position(len(h.words) + 1)
		if err = cmp.Or(ctx.Err(), err, missing); err == nil {
			h.play(words, next)
			continue
		}
		if ctx.Err() != nil || !errors.Is(err, fs.ErrNotExist) && time.Since(h.changed()) >= settling {
			h.err = err
		}
		return
	}
}

// play plays the turn after which a position is the next one.
func (h *history) play(words []string, next *dropblox.Position) {
	var after dropblox.State
	h.err = next.Restore(&after)
	if next.Failed && after.Cells == h.state.Cells && after.Blocks == h.state.Blocks { // the turn was not played
		h.note(next)
		return
	}
	now, drawn := h.state, after.Blocks[dropblox.Known-1]
	a, ok := h.state.ActionTo(&after)
	if ok {
		now.Force([]uint16{drawn})
		now.Step(env.Alone(0, a))
	}
	switch {
	case h.err != nil:
		h.err = fmt.Errorf("%s/state%d: %w", h.shown, len(h.words)+1, h.err)
	case !ok || now.Blocks != after.Blocks || now.Points != after.Points:
		h.err = fmt.Errorf("%s/state%d: by the rules, no commands lead there from the state before",
			h.shown, len(h.words)+1)
	default:
		h.rec.Add(h.state.Acting(), env.Alone(0, a))
		h.rec.AddDraws(&now)
		h.state, h.words = now, append(h.words, words)
		h.note(next)
	}
}

func (d *folder) position(t int) (*dropblox.Position, error) {
	return parsed(d, fmt.Sprintf("state%d", t), dropblox.ParsePosition)
}

func (d *folder) commands(t int) ([]string, error) {
	return parsed(d, fmt.Sprintf("move%d", t), func(text []byte) (words []string, err error) {
		err = json.Unmarshal(text, &words)
		for k, w := range words {
			words[k] = short(w, 20)
		}
		return words, err
	})
}

// parsed reads a file of the folder with parse, whose error gets the name of the file.
func parsed[T any](d *folder, name string, parse func([]byte) (T, error)) (out T, err error) {
	text, err := d.text(name)
	if err != nil {
		return out, err
	}
	if out, err = parse(text); err != nil {
		err = fmt.Errorf("%s/%s: %w", d.shown, name, err)
	}
	return out, err
}

// A folder is a folder on the disk, and the name that the page shows for it.
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

// read creates the entry of a history folder, settled if its newest state could be read.
func (d *dir) read(changed time.Time) (e *entry, settled bool) {
	e = &entry{ID: d.shown, Game: "dropblox", Players: []string{"dropblox_ai"},
		Time: cmp.Or(startOf(filepath.Base(d.path)), changed.UnixMilli()),
		file: d.shown, path: d.path, number: 1, history: &d.folder, changed: changed, open: true}
	ended := d.meta(e)
	e.Length = d.states()
	if e.Length == 0 {
		return e, false
	}
	p, err := d.position(e.Length - 1)
	if err != nil {
		if time.Since(changed) > settling {
			e.Error, e.open = short(err.Error(), 1000), false
		}
		return e, e.Error != ""
	}
	e.Scores, e.open = []int{p.Score}, !p.Failed && !ended
	e.Length--
	return e, true
}

func (d *dir) states() (n int) {
	for n < maxTurns && regular(filepath.Join(d.path, fmt.Sprintf("state%d", n))) {
		n++
	}
	return n
}

func regular(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
}

// IsHistory reports whether a path is a history folder of Dropblox: it has a file state0.
func IsHistory(path string) bool { return regular(filepath.Join(path, "state0")) }

// meta reads the player's name from the file meta, if it exists, and whether that says why the game ended: one that is
// stopped, such as by a limit of turns, ends without a failed state.
func (d *dir) meta(e *entry) (ended bool) {
	text, _ := d.text("meta")
	var meta map[string]any
	_ = json.Unmarshal(text, &meta) // without a program's name, or any, the entry stays as it is
	ended = meta["reason"] != nil && meta["reason"] != ""
	name, _ := meta["program"].(string)
	if name == "" {
		return ended
	}
	name = short(filepath.Base(name), maxName)
	switch seed := meta["seed"].(type) {
	case string:
		name += " · seed " + short(seed, 40)
	case float64:
		name += fmt.Sprintf(" · seed %.0f", seed)
	}
	e.Players = []string{name}
	return ended
}

// startOf reads the start of a game, in milliseconds, from its folder's name, "<id>_<unix time>"; 0 without one.
func startOf(name string) int64 {
	at := strings.LastIndexByte(name, '_')
	sec, err := strconv.ParseInt(name[at+1:], 10, 64)
	if at < 0 || err != nil || sec <= 0 || sec > 1<<40 {
		return 0
	}
	return 1000 * sec
}
