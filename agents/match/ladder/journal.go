package ladder

import (
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
	PictureFile = "ladder.svg"
)

// A head is the first line of a journal: what must not change when the ladder goes on.
type head struct {
	Game    string   `json:"game"`
	Rules   int      `json:"rules"`
	Players []string `json:"players"`
	Specs   []string `json:"specs,omitempty"` // of players that have names of the user's
	Seed    uint64   `json:"seed,string"`
	Cap     int      `json:"cap,omitempty"`
	Steps   int      `json:"steps,omitempty"`
}

// A Journal keeps the finished units of a ladder on the disk.
type Journal struct {
	*disk.Journal
	units []Unit
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
	j := new(Journal)
	lines, err := disk.OpenJournal(filepath.Join(dir, JournalFile), func(n int, line []byte) error {
		if n == 0 {
			return l.compare(line)
		}
		u, want := Unit{}, l.unit(n-1)
		if err := json.Unmarshal(line, &u); err != nil {
			return err
		}
		if u.A != want.A || u.B != want.B || u.Round != want.Round || !u.whole(l.alone()) {
			return fmt.Errorf("not unit %d of the ladder: %.100q", n-1, line)
		}
		j.units = append(j.units, u)
		return nil
	})
	if errors.Is(err, disk.ErrHeld) {
		return nil, fmt.Errorf("another process plays the ladder in %s: wait for it or choose another folder (%w)", dir, err)
	}
	if err != nil {
		return nil, err
	}
	if j.Journal = lines; lines.Lines() == 0 {
		if err := lines.Append(l.head()); err != nil {
			return nil, errors.Join(err, lines.Close())
		}
	}
	return j, nil
}

// compare returns an error unless a head is that of this ladder.
func (l *Ladder) compare(line []byte) error {
	var was head
	if err := json.Unmarshal(line, &was); err != nil {
		return fmt.Errorf("not the settings of a ladder: %w", err)
	}
	if !reflect.DeepEqual(was, l.head()) {
		return fmt.Errorf("of another ladder, %s with seed %d between %q: name another folder (--out), "+
			"or give the same game, players, seed and limits", was.Game, was.Seed, was.Players)
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
		if p.Spec != "" {
			h.Specs = append(h.Specs, p.Spec)
		}
	}
	return h
}

// add appends a finished unit and returns when it is on the disk.
func (j *Journal) add(u Unit) error {
	j.units = append(j.units, u)
	return j.Append(u)
}
