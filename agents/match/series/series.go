// Package series plays a contest: a series of games between the same programs, in which they
// change seats. It keeps logs and records and reports the result as a table or as JSON.
//
// A Series knows no contest: a contest.Setup says how a game is played. Seeds is the series of a contest whose programs
// are started for every turn: all play the same seeds, each alone.
package series

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A Series is a number of games between the same bots. Game i has the seating i modulo the
// number of seatings. Each has a seed of its own if Setup.NewSeeds is set; otherwise games with the
// same seed follow each other, one for each seating.
type Series struct {
	Rules    *env.Game
	Bots     []contest.Player
	Seatings [][]int // for each, the bot of every seat; see Seatings
	Games    int
	Seed     uint64
	Setup    *contest.Setup

	LogDir string         // folder for a log of each game; "" for none
	Errors io.Writer      // gets the bots' standard error; may be nil
	Record *record.Writer // gets every game, an unfinished one included; may be nil
	Done   func(games int)

	played []game
	kept   int      // games written to Record
	void   []string // games that do not count, and why
}

// A game is one game of a series that was played to its end. Slices are by seat.
type game struct {
	Seed    uint64
	Seating []int // bot
	Played
	print [sha256.Size]byte // equal for equal games; see fingerprint
}

// Seatings lists the seatings of n bots in games of the same seed: each bot in each seat
// once, or, if all is set, every order of the bots.
func Seatings(n int, all bool) (out [][]int) {
	if !all {
		for shift := range n {
			order := make([]int, n)
			for seat := range order {
				order[seat] = (seat + shift) % n
			}
			out = append(out, order)
		}
		return out
	}
	if n == 0 {
		return [][]int{{}}
	}
	for _, shorter := range Seatings(n-1, true) {
		for at := range n {
			order := append(append(append([]int{}, shorter[:at]...), n-1), shorter[at:]...)
			out = append(out, order)
		}
	}
	return out
}

// Play plays the games and returns how many of them are in Record. The error may be that of
// ctx; the reports then are about the games that ended.
func (s *Series) Play(ctx context.Context) (kept int, err error) {
	for i := range s.Games {
		if err := ctx.Err(); err != nil {
			return s.kept, err
		}
		if err := s.game(ctx, i); err != nil {
			return s.kept, err
		}
		s.Done(i + 1)
	}
	return s.kept, nil
}

// game plays game i.
func (s *Series) game(ctx context.Context, i int) (err error) {
	n := len(s.Seatings)
	g := game{Seed: env.Derive(s.Seed, uint64(i/n)), Seating: s.Seatings[i%n]}
	if s.Setup.NewSeeds {
		g.Seed = env.Derive(s.Seed, uint64(i))
	}
	log, err := CreateLog(s.LogDir, fmt.Sprintf("game-%03d", i+1))
	if err != nil {
		return err
	}
	m := Match{Rules: s.Rules, Seed: g.Seed, Setup: s.Setup, Log: log, Errors: s.Errors}
	for _, b := range g.Seating {
		m.Seats = append(m.Seats, s.Bots[b])
	}
	var rec *record.Record
	if g.Played, rec, err = m.Play(ctx); rec == nil {
		return err
	}
	if s.Record != nil {
		if why := s.proven(g, rec, err == nil); why != nil {
			s.void = append(s.void, fmt.Sprintf("game %d: %v", i+1, why))
			return err
		}
		s.kept++
		if e := s.Record.Write(rec); e != nil {
			return errors.Join(err, e)
		}
	}
	if err == nil {
		g.print = s.fingerprint(rec)
		s.played = append(s.played, g)
	}
	return err
}

// proven returns an error unless a record replays to what came of its game, as far as it was played.
func (s *Series) proven(g game, rec *record.Record, over bool) error {
	if !over {
		return record.Check(s.Rules, rec)
	}
	return match.Prove(s.Rules, rec, g.Points, g.Ranking(len(g.Seating)), func(int, int) bool { return true })
}

// fingerprint is a hash of a game: its seed, and who chose what in every step. Two games in which the bots have
// different seats are equal if every bot made the same choices.
func (s *Series) fingerprint(rec *record.Record) (sum [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintln(h, rec.Seed)
	for state, m := range record.NewReplay(s.Rules, rec).All() {
		var step []string
		for set := state.Acting(); set != 0; set = set.Rest() {
			seat := set.First()
			step = append(step, fmt.Sprintf("%q %d", rec.Agents[seat], m[seat]))
		}
		slices.Sort(step)
		fmt.Fprintln(h, step)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// distinct counts the games that differ from all games before them.
func (s *Series) distinct() int {
	seen := map[[sha256.Size]byte]bool{}
	for _, g := range s.played {
		seen[g.print] = true
	}
	return len(seen)
}

// A gameLog is the file with all that was said in one game.
type gameLog struct {
	names  []string // of the seats
	errors io.Writer
	mu     sync.Mutex
	file   *os.File // nil keeps nothing
	out    *bufio.Writer
	over   bool
	late   map[int]int // lines of standard error after the end of the game, by seat
}

// CreateLog creates the log file of a game in a folder, which it creates too. It returns nil
// if dir is empty.
func CreateLog(dir, name string) (*os.File, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(dir, name+".log"))
}

func newLog(names []string, errors io.Writer, f *os.File) *gameLog {
	return &gameLog{names: names, errors: errors, file: f, out: bufio.NewWriter(f), late: map[int]int{}}
}

var marks = map[contest.Kind]string{contest.ToBot: "<", contest.FromBot: ">", contest.Error: "!", contest.Remark: "*",
	contest.Time: "@"}

// line writes one line. It may be called from several goroutines.
func (l *gameLog) line(k contest.Kind, seat int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k == contest.Error && l.over {
		l.late[seat]++
		return
	}
	if k == contest.Error && l.errors != nil {
		fmt.Fprintf(l.errors, "%s: %s\n", l.names[seat], text)
	}
	switch {
	case k == contest.Over:
		l.over = true
	case l.file == nil:
	case k == contest.Note:
		fmt.Fprintln(l.out, text)
	default:
		fmt.Fprintf(l.out, "%s %s %s\n", l.names[seat], marks[k], text)
	}
}

// close ends the log, which says how much of a bot's standard error came too late to be kept.
func (l *gameLog) close() error {
	for seat := range l.names {
		if n := l.late[seat]; n > 0 {
			l.line(contest.Remark, seat, fmt.Sprintf("%d lines of standard error after the end of the game are not kept", n))
		}
	}
	if l.file == nil {
		return nil
	}
	return errors.Join(l.out.Flush(), l.file.Close())
}
