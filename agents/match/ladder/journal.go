package ladder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"blockyard/datasets/program/disk"
)

// The files in the folder of a ladder.
const (
	JournalFile = "journal.jsonl" // the settings, then a line per finished unit
	ReportFile  = "ladder.json"
	PictureFile = "ladder.png"
)

// maxJournal bounds the journal in bytes.
const maxJournal = 64 << 20

// A head is the first line of a journal: what must not change when the ladder goes on.
type head struct {
	Game    string   `json:"game"`
	Rules   int      `json:"rules"`
	Players []string `json:"players"`
	Seed    uint64   `json:"seed,string"`
	Cap     int      `json:"cap,omitempty"`
	Steps   int      `json:"steps,omitempty"`
}

// A Journal keeps the finished units of a ladder on the disk.
type Journal struct {
	units   []Unit
	file    *os.File
	release func() error // of the lock
}

// Open opens the journal of a ladder in a folder, or creates it. One that exists must be of a ladder with the same
// game, players, seed and limits. The caller must Close it;
// until then no other process can open it.
func (l *Ladder) Open(dir string) (*Journal, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, JournalFile)
	release, err := disk.Acquire(path + ".lock")
	if errors.Is(err, disk.ErrHeld) {
		return nil, fmt.Errorf("another process plays the ladder in %s: wait for it or choose another folder (%w)", dir, err)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	j := &Journal{file: f, release: release}
	if err := j.read(path, l); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// read reads the units, cuts off a last line that was not written to its end, and begins an empty journal.
func (j *Journal) read(path string, l *Ladder) error {
	if info, err := j.file.Stat(); err != nil {
		return err
	} else if info.Size() > maxJournal {
		return fmt.Errorf("%s has more than %d bytes", path, maxJournal)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if err := j.file.Truncate(int64(len(text))); err != nil {
		return err
	}
	if _, err := j.file.Seek(int64(len(text)), 0); err != nil {
		return err
	}
	now := l.head()
	if len(text) == 0 {
		return j.write(now)
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	var was head
	if err := json.Unmarshal(lines[0], &was); err != nil {
		return fmt.Errorf("%s: line 1: not the settings of a ladder: %w", path, err)
	}
	if !reflect.DeepEqual(was, now) {
		return fmt.Errorf("%s is of another ladder, %s with seed %d between %q: name another folder (--out), "+
			"or give the same game, players, seed and limits", path, was.Game, was.Seed, was.Players)
	}
	for k, line := range lines[1:] {
		u, want := Unit{}, l.unit(k)
		if err := json.Unmarshal(line, &u); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, k+2, err)
		}
		if u.A != want.A || u.B != want.B || u.Round != want.Round || !u.whole(l.alone()) {
			return fmt.Errorf("%s: line %d is not unit %d of the ladder: %.100q", path, k+2, k, line)
		}
		j.units = append(j.units, u)
	}
	return nil
}

// whole reports whether the unit has the results of a pair of games, or of a game alone.
func (u Unit) whole(alone bool) bool {
	if alone {
		return u.Wins == 0 && u.Draws == 0 && u.Losses == 0
	}
	return min(u.Wins, u.Draws, u.Losses) >= 0 && u.Wins+u.Draws+u.Losses == 2
}

func (l *Ladder) head() head {
	h := head{Game: l.Rules.Name, Rules: l.Rules.Rules, Seed: l.Seed, Cap: l.Cap, Steps: l.Steps}
	for _, p := range l.Players {
		h.Players = append(h.Players, p.Name)
	}
	return h
}

// add appends a finished unit and returns when it is on the disk.
func (j *Journal) add(u Unit) error {
	j.units = append(j.units, u)
	return j.write(u)
}

func (j *Journal) write(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// Close closes the journal, which another process may then open.
func (j *Journal) Close() error { return errors.Join(j.file.Close(), j.release()) }
