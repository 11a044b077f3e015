package tournament

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/ansi"
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

const maxHead = 64 << 20

// A head is what must be the same when a tournament is continued.
type head struct {
	Game    string `json:"game"`
	Version int    `json:"rules"`
	Config
	Settings string     `json:"settings"` // of the contest, such as its clock
	Entrants []*Entrant `json:"entrants"`
}

// A Journal keeps the finished games of a tournament on the disk.
type Journal struct {
	Played []match.Played // the games found when it was opened

	dir     string
	lines   *disk.Journal
	head    []byte              // as it was when the journal was opened
	headErr error               // why it could not be read
	begun   head                // what is played, as Begin wrote it
	seen    map[match.Print]int // the games of a league, by what was played
}

// OpenJournal opens the journal in a folder, or creates it, and reads its games. Only these and those that Add adds
// count: if an entrant changes the folder later, that has no effect.
func OpenJournal(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, seen: map[match.Print]int{}}
	j.head, j.headErr = readHead(filepath.Join(dir, headFile))
	var err error
	if j.lines, err = disk.OpenJournal(filepath.Join(dir, journalFile), j.read); errors.Is(err, disk.ErrHeld) {
		err = fmt.Errorf("another process plays in %s: wait for it or choose another folder (%w)", dir, err)
	}
	return j, err
}

// Begin writes what is played, and by whom. If the journal has games, it compares instead: the tournament must be the
// same, and its first games must be those of the journal; the entrants get the results of their tests from the journal.
func (j *Journal) Begin(c *Config, settings string, entrants []*Entrant) (err error) {
	c.policy().resume(&plan{c, takingPart(entrants)}, len(j.Played))
	now := head{c.Rules.Name, c.Rules.Rules, *c, settings, entrants}
	now.Rules, now.Repeats, now.Workers, now.Isolate = nil, 0, 0, "" // they are not in the file
	j.begun = now
	path := filepath.Join(j.dir, headFile)
	switch {
	case errors.Is(j.headErr, os.ErrNotExist) || j.headErr == nil && len(j.Played) == 0:
		err = disk.WriteJSON(path, now)
	case j.headErr == nil:
		err = resume(path, j.head, now)
	default:
		err = j.headErr
	}
	if err != nil {
		return err
	}
	if err := j.check(c, entrants); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(j.dir, journalFile), err)
	}
	return nil
}

// Kept returns the game and the entrants of a league, whose folder keeps them; nothing if it is new.
func (j *Journal) Kept() (game string, entrants []*Entrant, err error) {
	var h head
	if err = j.headErr; err == nil {
		err = json.Unmarshal(j.head, &h)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return h.Game, h.Entrants, err
}

// enter writes the entrants of a league, which are those of Begin and new ones behind them.
func (j *Journal) enter(entrants []*Entrant) error {
	j.begun.Entrants = entrants
	return disk.WriteJSON(filepath.Join(j.dir, headFile), j.begun)
}

// verify is that of the policy. A game of a league that repeats an earlier one says so.
func (j *Journal) verify(p *match.Played, c *Config, entrants []*Entrant) error {
	err := c.policy().verify(p, c, entrants, j.dir)
	if c.Format == Ongoing && err == nil && p.Void == "" {
		if p.Repeats = j.seen[p.Print]; p.Repeats == 0 {
			j.seen[p.Print] = p.Number + 1
		}
	}
	return err
}

func (j *Journal) read(n int, line []byte) error {
	var p match.Played
	if err := json.Unmarshal(line, &p); err != nil || p.Number != n {
		return fmt.Errorf("not game %d: %.100q: name another folder if this is of something else", n,
			bytes.TrimSpace(line))
	}
	j.Played = append(j.Played, p)
	return nil
}

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

// Tested reports whether the journal has the results of the entrants' tests: it has if it has a game.
func (j *Journal) Tested() bool { return j.headErr == nil && len(j.Played) > 0 }

// resume returns an error unless the tournament in a folder is the one of now, which gets the results of its tests.
func resume(path string, text []byte, now head) error {
	var was head
	if err := json.Unmarshal(text, &was); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	same := func(a, b *Entrant) bool { return a.Name == b.Name && a.Fingerprint == b.Fingerprint }
	if !slices.EqualFunc(was.Entrants, now.Entrants, same) {
		return fmt.Errorf("%s is of other entrants: %s: name another folder", path,
			differences(was.Entrants, now.Entrants))
	}
	for k, e := range now.Entrants {
		e.Refused, e.Output, e.Dialect = was.Entrants[k].Refused, was.Entrants[k].Output, was.Entrants[k].Dialect
	}
	was.Entrants, now.Entrants = nil, nil
	if !reflect.DeepEqual(was, now) {
		return fmt.Errorf("%s has other settings: %s: name another folder, or give the same flags", path, changes(was, now))
	}
	return nil
}

// changes says which settings differ, and how.
func changes(was, now head) string {
	fields := func(h head) (of map[string]json.RawMessage) {
		text, _ := json.Marshal(h)
		_ = json.Unmarshal(text, &of)
		return of
	}
	before, after := fields(was), fields(now)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if a, b := before[name], after[name]; !bytes.Equal(a, b) {
			out = append(out, fmt.Sprintf("%s was %s, now %s", name, a, b))
		}
	}
	return some(out)
}

// differences says which entrants have changed, are missing or are new.
func differences(was, now []*Entrant) string {
	prints := map[string]string{}
	for _, e := range was {
		prints[e.Name] = e.Fingerprint
	}
	var out []string
	for _, e := range now {
		switch print, known := prints[e.Name]; {
		case !known:
			out = append(out, e.Name+" is new")
		case print != e.Fingerprint:
			out = append(out, e.Name+" has changed")
		}
		delete(prints, e.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(prints)) {
		out = append(out, name+" is missing")
	}
	if len(out) == 0 {
		return "their order has changed"
	}
	return some(out)
}

func some(list []string) string {
	if more := len(list) - 5; more > 0 {
		list = append(list[:5:5], fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// check returns an error unless the games of the journal are the tournament's first ones, with a result for every seat.
// Games that their records do not prove are void afterwards.
func (j *Journal) check(c *Config, entrants []*Entrant) error {
	in := takingPart(entrants)
	if len(in) < max(2, c.Seats) && len(j.Played) > 0 && c.Format != Ongoing {
		return fmt.Errorf("%d games of %d entrants", len(j.Played), len(in))
	}
	plan := &plan{c, in}
	for at := 0; at < len(j.Played); {
		games := plan.next(j.Played[:at])
		if c.Format == Ongoing { // who was there then is not known: any two may have met
			games = []match.Played{c.nextOf(j.Played[:at], j.Played[at].Stage, j.Played[at].Seats)}
		}
		if len(games) == 0 {
			return fmt.Errorf("%d games, the tournament has %d", len(j.Played), at)
		}
		for k, g := range games[:min(len(games), len(j.Played)-at)] {
			p := &j.Played[at+k]
			if p.Number != g.Number || p.Stage != g.Stage || p.Seed != g.Seed || !slices.Equal(p.Seats, g.Seats) {
				return fmt.Errorf("line %d is not game %d of the tournament: %s, seed %s, %v; want %s, seed %s, %v", at+k+1,
					g.Number, p.Stage, p.Seed, p.Seats, g.Stage, g.Seed, g.Seats)
			}
			p.Unit = g.Unit
			if err := j.verify(p, c, entrants); err != nil {
				return fmt.Errorf("line %d: %w", at+k+1, err)
			}
		}
		at += len(games)
	}
	return nil
}

// complete returns an error unless a game has points and a rank for every seat, and so many times.
func complete(p *match.Played, times int) error {
	seats := len(p.Seats)
	if len(p.Points) != seats || len(p.Ranks) != seats || len(p.UsedMS) != times || len(p.MostMS) != times ||
		len(p.Faults) > seats || len(p.Odd) > seats {
		return fmt.Errorf("%d points, %d ranks, %d and %d times and %d faults, want %d of each", len(p.Points),
			len(p.Ranks), len(p.UsedMS), len(p.MostMS), len(p.Faults), seats)
	}
	if slices.Min(p.Ranks) < 1 || slices.Max(p.Ranks) > seats {
		return fmt.Errorf("ranks %v, want 1 to %d", p.Ranks, seats)
	}
	return nil
}

func (proofs) verify(p *match.Played, c *Config, entrants []*Entrant, dir string) error {
	if err := complete(p, len(p.Seats)); err != nil {
		return err
	}
	p.Void = ""
	if p.Stall() {
		return nil
	}
	rec, err := readRecord(filepath.Join(dir, RecordFile(p.Number)))
	if err == nil {
		err = provenBy(p, rec, c.Rules, entrants)
	}
	if err == nil && c.Format == Ongoing {
		p.Print = match.Fingerprint(c.Rules, rec)
	}
	if err != nil {
		p.Void = ansi.Plain(err.Error(), mostReason)
	}
	return nil
}

func readRecord(path string) (*record.Record, error) {
	in, err := record.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("it has no record")
	} else if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.Read()
}

// provenBy returns an error unless a record replays to the result. In games of one seat, which the entrants play one
// after the other, the record is that of the winner, and proves that score.
func provenBy(p *match.Played, rec *record.Record, g *env.Game, entrants []*Entrant) error {
	seats, points, ranks := p.Seats, p.Points, p.Ranks
	if g.MaxSeats == 1 {
		best := slices.Index(p.Points, slices.Max(p.Points))
		if !slices.Equal(ranks, contest.Ranks(points)) {
			return fmt.Errorf("ranks %v for %v points", ranks, points)
		}
		seats, points, ranks = seats[best:best+1], points[best:best+1], ranks[best:best+1]
	}
	var agents []string
	for _, e := range seats {
		agents = append(agents, entrants[e].Agent)
	}
	if rec.Game != g.Name || strconv.FormatUint(rec.Seed, 10) != p.Seed || !slices.Equal(rec.Agents, agents) ||
		len(rec.Draws)+len(rec.Start) > 0 {
		return fmt.Errorf("its record is of another game: %s with seed %d between %q", rec.Game, rec.Seed, rec.Agents)
	}
	return match.Prove(g, rec, points, ranks, func(loser, winner int) bool {
		return p.Fault(loser) != "" || p.UsedMS[loser] >= p.UsedMS[winner] // a tie may go to who used less time
	})
}

// RecordFile returns the path of a game's record in the tournament's folder; names count from 0001.
func RecordFile(number int) string {
	return filepath.Join(GamesDir, fmt.Sprintf("%04d.jsonl.gz", number+1))
}

// LogFile returns the path of a game's log in the tournament's folder; names count from 0001.
func LogFile(number int) string { return filepath.Join(LogsDir, fmt.Sprintf("%04d.log", number+1)) }

// Add keeps a finished game and its record, if there is one, and returns when they are on the disk.
func (j *Journal) Add(p *match.Played, rec *record.Record) error {
	if rec != nil {
		if err := os.MkdirAll(filepath.Join(j.dir, GamesDir), 0o755); err != nil {
			return err
		}
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
	return j.lines.Append(p)
}

// Close closes the file of the journal, which another process may then open.
func (j *Journal) Close() error { return j.lines.Close() }
