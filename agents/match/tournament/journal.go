package tournament

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"blockyard/datasets/program/disk"
	"blockyard/datasets/record"
)

// The files of a tournament, in its folder.
const (
	headFile    = "tournament.json" // what is played, and by whom
	journalFile = "journal.jsonl"   // a line for every game
	GamesDir    = "games"           // a record of every game
	LogsDir     = "logs"            // what was said in every game
	BuildDir    = "build"           // the compiled submissions
	PageFile    = "index.html"
)

// Limits of a journal that is read.
const (
	maxHead  = 64 << 20 // bytes
	maxLine  = 1 << 20  // bytes
	maxGames = 1 << 20
)

// A head is what a tournament must keep when it goes on.
type head struct {
	Game     string     `json:"game"`
	Rules    int        `json:"rules"`
	Format   Format     `json:"format"`
	Seats    int        `json:"seats"`
	Games    int        `json:"games"`
	Rounds   int        `json:"rounds"`
	Finals   int        `json:"finals"`
	Seed     uint64     `json:"seed,string"`
	Settings string     `json:"settings"` // of the contest, such as its clock
	Entrants []*Entrant `json:"entrants"`
}

// A Journal keeps the finished games of a tournament on the disk.
type Journal struct {
	Played []Played // the games found when it was opened

	dir     string
	file    *os.File
	release func() error // of the lock
}

// OpenJournal opens the journal in a folder, or creates it. If it has games, the tournament must be the same; entrants
// that were tested before keep what the test found. One without games starts anew.
func OpenJournal(dir string, c *Config, settings string, entrants []*Entrant) (*Journal, error) {
	for _, d := range []string{GamesDir, LogsDir} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	now := head{c.Rules.Name, c.Rules.Rules, c.Format, c.Seats, c.Games, c.Rounds, c.Finals, c.Seed, settings, entrants}
	release, err := disk.Acquire(filepath.Join(dir, journalFile+".lock"))
	if errors.Is(err, disk.ErrHeld) {
		return nil, fmt.Errorf("another process plays the tournament in %s: wait for it or choose another folder (%w)",
			dir, err)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, release: release}
	if err := j.begin(now, c, entrants); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// begin writes the head or compares it, and reads the games.
func (j *Journal) begin(now head, c *Config, entrants []*Entrant) error {
	path := filepath.Join(j.dir, headFile)
	text, err := readHead(path)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && !Tested(j.dir):
		if text, err = json.MarshalIndent(now, "", "  "); err == nil {
			err = disk.WriteText(path, 0o644, string(text)+"\n")
		}
	case err == nil:
		err = resume(path, text, now)
	}
	if err != nil {
		return err
	}
	if err := j.open(); err != nil {
		return err
	}
	if err := j.check(c, entrants); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(j.dir, journalFile), err)
	}
	return nil
}

// readHead reads a file that is not too long for the head of a tournament.
func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHead+1))
	if err == nil && len(text) > maxHead {
		err = fmt.Errorf("%s has more than %d bytes", path, maxHead)
	}
	return text, err
}

// Tested reports whether a folder holds a tournament whose entrants have been tested, and have played a game.
func Tested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, headFile))
	games, empty := os.Stat(filepath.Join(dir, journalFile))
	return err == nil && empty == nil && games.Size() > 0
}

// resume compares the tournament in a folder with the one that is to go on.
func resume(path string, text []byte, now head) error {
	var was head
	if err := json.Unmarshal(text, &was); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	byPrint := func(list []*Entrant) (all []string) {
		for _, e := range list {
			all = append(all, e.Name+" "+e.Print)
		}
		return all
	}
	if a, b := byPrint(was.Entrants), byPrint(now.Entrants); !slices.Equal(a, b) {
		return fmt.Errorf("%s is a tournament of other entrants, or one of them has changed: name another folder (--out)",
			path)
	}
	for k, e := range now.Entrants {
		e.Refused, e.Output = was.Entrants[k].Refused, was.Entrants[k].Output
	}
	was.Entrants, now.Entrants = nil, nil
	if !reflect.DeepEqual(was, now) {
		return fmt.Errorf("%s is a tournament with other settings: name another folder (--out), or give the same flags", path)
	}
	return nil
}

// open reads the journal and cuts off a last line that was not written to its end. Close closes the file, also after an
// error.
func (j *Journal) open() (err error) {
	path := filepath.Join(j.dir, journalFile)
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return err
	}
	in := bufio.NewReaderSize(j.file, maxLine)
	var end int64
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("%s: line %d has more than %d bytes", path, len(j.Played)+1, maxLine)
		case err == nil && len(j.Played) == maxGames:
			err = fmt.Errorf("%s: line %d: want at most %d games", path, len(j.Played)+1, maxGames)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var p Played
		if err := json.Unmarshal(line, &p); err != nil || p.Number != len(j.Played) {
			return fmt.Errorf("%s: line %d is not game %d: %.100q", path, len(j.Played)+1, len(j.Played), bytes.TrimSpace(line))
		}
		j.Played = append(j.Played, p)
		end += int64(len(line))
	}
	if err = j.file.Truncate(end); err == nil {
		_, err = j.file.Seek(end, io.SeekStart)
	}
	return err
}

// check returns an error unless the games of the journal are the tournament's first ones, with a result for every seat.
func (j *Journal) check(c *Config, entrants []*Entrant) error {
	in := takingPart(entrants)
	if len(in) < max(2, c.Seats) && len(j.Played) > 0 {
		return fmt.Errorf("%d games of %d entrants", len(j.Played), len(in))
	}
	plan := newPlan(c, in)
	for at := 0; at < len(j.Played); {
		games := plan.next(j.Played[:at])
		if len(games) == 0 {
			return fmt.Errorf("%d games, the tournament has %d", len(j.Played), at)
		}
		for k, g := range games[:min(len(games), len(j.Played)-at)] {
			p := &j.Played[at+k]
			if !reflect.DeepEqual(p.Game, g) {
				return fmt.Errorf("line %d is not game %d of the tournament: %+v, want %+v", at+k+1, g.Number, p.Game, g)
			}
			if err := p.complete(len(g.Seats)); err != nil {
				return fmt.Errorf("line %d: %w", at+k+1, err)
			}
		}
		at += len(games)
	}
	return nil
}

// complete returns an error if the result of a game does not say something about every seat.
func (p *Played) complete(seats int) error {
	if len(p.Points) != seats || len(p.Ranks) != seats || len(p.UsedMS) != seats || len(p.MostMS) != seats ||
		len(p.Faults) > seats {
		return fmt.Errorf("%d points, %d ranks, %d and %d times and %d faults, want %d of each", len(p.Points),
			len(p.Ranks), len(p.UsedMS), len(p.MostMS), len(p.Faults), seats)
	}
	for _, rank := range p.Ranks {
		if rank < 1 || rank > seats {
			return fmt.Errorf("rank %d, want 1 to %d", rank, seats)
		}
	}
	return nil
}

// RecordFile is the name of a game's record in the tournament's folder.
func RecordFile(number int) string {
	return filepath.Join(GamesDir, fmt.Sprintf("%04d.jsonl.gz", number+1))
}

// LogFile is the name of a game's log in the tournament's folder.
func LogFile(number int) string { return filepath.Join(LogsDir, fmt.Sprintf("%04d.log", number+1)) }

// Add keeps a finished game and its record, if there is one, and returns when they are on the disk.
func (j *Journal) Add(p Played, rec *record.Record) error {
	if rec != nil {
		w, err := record.Create(filepath.Join(j.dir, RecordFile(p.Number)))
		if err != nil {
			return err
		}
		defer w.Discard()
		if err := w.Write(rec); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// Close closes the journal, which another process may then open.
func (j *Journal) Close() (err error) {
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.release())
}
