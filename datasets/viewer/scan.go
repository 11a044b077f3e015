package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"blockyard/datasets/record"
	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/record/jsonl"
	"blockyard/env"
)

const maxName = 120 // the largest length of a player's or a game's name in bytes; longer ones are cut

// A file is a file of records and how far its games have been listed.
type file struct {
	shown, path string
	size        int64
	changed     time.Time
	entries     []*entry
	offset      int64 // end of the last line that was read
	line        int
	in          *jsonl.Reader // open while there is more to read
	whole       bool          // read to the end, as of the last look
	version     int
	bad         bool  // unreadable from here: the last entry has the error
	log         bool  // a contest's log, in which the lines of records are between others
	named       bool  // by the user, and not found in a folder
	from        int64 // end of the last game of a log
}

// head is a record with its long lists as they are: the list of games only counts the choices.
type head struct {
	record.Record
	Choices json.RawMessage `json:"choices"`
	Draws   json.RawMessage `json:"draws"`
	Values  json.RawMessage `json:"values"`
}

// look checks whether the file has changed, and starts again if another file has replaced it.
func (f *file) look() error {
	st, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	size, changed := st.Size(), st.ModTime()
	if size == f.size && changed.Equal(f.changed) {
		return nil
	}
	if size < f.size || size == f.size && f.whole {
		f.reset()
	}
	f.size, f.changed, f.whole = size, changed, false
	for _, e := range f.entries {
		e.changed = changed
	}
	return nil
}

func (f *file) reset() {
	f.stop()
	f.entries, f.offset, f.line, f.from, f.whole, f.bad = nil, 0, 0, 0, false, false
	f.version++
}

// stop closes the file until there is more to read.
func (f *file) stop() {
	if f.in != nil {
		f.in.Close()
		f.in = nil
	}
}

// scan lists games until deadline or the end of the file. room is the number of entries that the file may have.
func (f *file) scan(deadline time.Time, room int) (done bool) {
	if f.whole || f.bad {
		return true
	}
	if f.in == nil { // go on where the last scan stopped
		in, err := jsonl.OpenAt(f.shown, f.path, f.line, f.offset)
		if err != nil {
			f.fail(err)
			return true
		}
		f.in = in
	}
	// Every scan goes on a little.
	ctx, cancel := context.WithTimeout(context.Background(), max(time.Until(deadline), 10*time.Millisecond))
	defer cancel()
	f.in.Use(ctx)
	for n := 0; ; n++ {
		if n > 0 && time.Now().After(deadline) {
			return false
		}
		line, err := f.in.Next()
		if errors.Is(err, context.DeadlineExceeded) {
			return false // the next scan goes on in the middle of the line
		}
		if err == nil {
			err = f.add(line, room-len(f.entries))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, jsonl.ErrCut) {
			f.whole = true
			if f.stop(); f.log && f.named && len(f.entries) == 0 {
				f.fail(fmt.Errorf("%s: %w", f.shown, errNoGame))
			}
			return true
		}
		if err != nil {
			f.fail(err)
			return true
		}
		f.offset, f.line = f.in.Offset(), f.in.Line()
	}
}

// fail ends the list of the file's games with an entry that has the error.
func (f *file) fail(err error) {
	f.stop()
	f.bad = true
	e := f.entry("unreadable")
	e.Players, e.Error = []string{}, short(err.Error(), 1000)
	f.entries = append(f.entries, e)
}

var errNoGame = errors.New("this log does not end with the record of its game: agents host and tournament write logs " +
	"that do, unless they are ended in the middle of a game")

// add lists the game of a line, or continues the last game.
func (f *file) add(line []byte, room int) error {
	var h head
	if f.log {
		var ends bool
		if line, ends = bytes.CutPrefix(line, []byte(gamelog.Prefix)); !ends {
			return nil
		}
		f.offset += int64(len(gamelog.Prefix)) // where the record is
		defer func() { f.from = f.in.Offset() }()
	}
	if err := json.Unmarshal(line, &h); err != nil {
		if f.in.Cut() {
			return jsonl.ErrCut
		}
		return f.in.Errorf("%w", err)
	}
	var last *entry
	if n := len(f.entries); n > 0 && f.entries[n-1].open {
		last = f.entries[n-1]
	}
	switch {
	case last == nil && h.Part != 0:
		return f.in.Errorf("%w: part %d of a long game without the parts before it", record.ErrInvalid, h.Part)
	case last != nil && h.Part != last.part+1:
		return f.in.Errorf("%w: part %d of a long game, want part %d", record.ErrInvalid, h.Part, last.part+1)
	case last == nil && room <= 0:
		return fmt.Errorf("the list is full: the games after the first %d are left out", maxEntries)
	case last == nil:
		e, err := f.enter(&h)
		if err != nil {
			return f.in.Errorf("%w", err)
		}
		last = e
		f.entries = append(f.entries, e)
	}
	last.Length += count(h.Choices)
	last.part, last.open, last.changed = h.Part, h.More, f.changed
	if !h.More {
		last.Scores, last.Results, last.Stopped = h.Scores, h.Results, h.Stopped
	}
	return nil
}

func (f *file) entry(game string) *entry {
	n := len(f.entries) + 1
	return &entry{ID: fmt.Sprintf("%s:%d", f.shown, n), Game: game, Time: f.changed.UnixMilli(), log: f.log, from: f.from,
		file: f.shown, path: f.path, number: n, line: f.line + 1, offset: f.offset, version: f.version}
}

func (f *file) enter(h *head) (*entry, error) {
	rec := h.Record
	rec.More = false
	if h.More && h.Seats > 0 && h.Seats <= env.MaxSeats {
		rec.Scores, rec.Results = make([]int, h.Seats), make([]float32, h.Seats)
	}
	if err := rec.Validate(); err != nil {
		return nil, err
	}
	e := f.entry(short(h.Game, maxName))
	for _, a := range h.Names() {
		e.Players = append(e.Players, short(a, maxName))
	}
	if t, err := time.Parse(time.RFC3339, h.Meta["time"]); err == nil {
		e.Time = t.UnixMilli()
	}
	return e, nil
}

// count is the number of elements of a JSON array of numbers.
func count(list json.RawMessage) int {
	n := bytes.Count(list, []byte(","))
	if bytes.ContainsAny(list, "0123456789") {
		n++
	}
	return n
}
