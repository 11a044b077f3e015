// Package tournament plays a tournament between programs of one contest.
//
// Every entrant first plays a test game. One that does not start, never answers, ends early or answers nonsense does
// not take part, and the table says why. The others play by a Format, round robin or Swiss, and then a final
// round. Every game has a seed of its own, and the entrants change seats.
//
// Every finished game is a line of the journal, written through to the disk. A tournament that was interrupted, also by
// kill -9, continues after the last game of its journal: which games there are follows from the entrants, the
// format, the seed and the results so far. A game counts only if its record proves the result that the journal notes.
package tournament

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
)

// An Entrant is a program that takes part, or wants to.
type Entrant struct {
	Name     string `json:"name"`
	Language string `json:"language"` // or "agent" or "command"
	Print    string `json:"print"`    // identifies the program: its command or the hash of its submission
	Refused  string `json:"refused,omitempty"`
	Output   string `json:"output,omitempty"` // what its compiler said, or its last words

	Program contest.Program `json:"-"`
	Agent   string          `json:"-"` // what records say that it is
	from    *bots.Agent
}

// player is the entrant as a program that plays.
func (e *Entrant) player() contest.Player {
	return contest.Player{Program: e.Program, Name: e.Name, Agent: e.Agent}
}

// takingPart lists the entrants that passed the test.
func takingPart(entrants []*Entrant) (in []int) {
	for k, e := range entrants {
		if e.Refused == "" {
			in = append(in, k)
		}
	}
	return in
}

// A Contest plays the games.
type Contest interface {
	// Test plays a game with an entrant and returns what it finds wrong, as a *Fault.
	Test(ctx context.Context, e *Entrant) error
	// Play plays a game of these entrants, by seat. The record is nil if there is none.
	Play(ctx context.Context, g Game, seats []*Entrant) (Result, *record.Record, error)
}

// A Fault is why an entrant does not take part.
type Fault struct {
	Why   string
	Words string // the last lines of its standard error
}

func (f *Fault) Error() string { return f.Why }

// A Game is a game that is to be played.
type Game struct {
	Number int    `json:"number"` // from 0
	Stage  string `json:"stage"`  // "round 3", "semi-final", …
	Seats  []int  `json:"seats"`  // the entrant in every seat
	Seed   uint64 `json:"seed,string"`
}

// A Result is how a game ended; slices are by seat.
type Result struct {
	Points []int      `json:"points"`
	Ranks  []int      `json:"ranks"` // from 1; equal ranks are a draw
	Reason string     `json:"reason,omitempty"`
	Faults []string   `json:"faults,omitempty"`     // why an entrant was ended or lost at once; "" for none
	UsedMS []int64    `json:"used_ms"`              // by all its answers
	MostMS []int64    `json:"longest_ms"`           // by one answer
	Rounds int        `json:"rounds"`               // turns, as records count them
	Names  []string   `json:"seat_names,omitempty"` // what the contest and the log call the seats
	Odd    [][]string `json:"odd,omitempty"`        // about its output
}

// Played is a game with its result: a line of the journal.
type Played struct {
	Game
	Result
	Void string `json:"-"` // why it does not count; "" for a game whose record proves the result
}

// final reports whether it is a game of the finals.
func (p Played) final() bool {
	return slices.Contains([]string{"semi-final", "third place", "final"}, p.Stage)
}

// fault is why the entrant of a seat was ended or lost at once; "" for nothing.
func (p *Played) fault(seat int) string {
	if seat < len(p.Faults) {
		return p.Faults[seat]
	}
	return ""
}

// Config says how a tournament is played.
type Config struct {
	Rules   *env.Game
	Format  Format
	Seats   int       // of a game
	Games   int       // of a meeting of the same entrants
	Rounds  int       // of Swiss; 0 is as many as suit the number of entrants
	Finals  int       // games of a semi-final and of the final; 0 is none
	Seed    uint64    // of the whole tournament
	Workers int       // games at the same time
	Isolate cage.Mode // of the programs of others, as reports say it; "" is that there are none
}

// A Tournament is a tournament in progress.
type Tournament struct {
	Config
	Entrants []*Entrant
	Contest  Contest
	Journal  *Journal
	Changed  func(t *Tournament) error // before the first game, after every one and at the end; may be nil

	Played   []Played
	Expected int       // games, as far as is known
	Over     bool      // all games were played
	rows     []gameRow // of the page: a game that was played does not change
	Stopped  bool      // nobody plays the missing games at the moment
}

// Play plays the games that are missing.
func (t *Tournament) Play(ctx context.Context) error {
	in := takingPart(t.Entrants)
	if least := max(2, t.Seats); len(in) < least {
		return errors.Join(fmt.Errorf("%d of %d entrants passed the test, want at least %d: the table says why",
			len(in), len(t.Entrants), least), t.stop())
	}
	t.Played = t.Journal.Played
	plan := newPlan(&t.Config, in)
	for {
		batch := plan.next(t.Played)
		t.Expected = plan.expected(t.Played)
		if len(batch) == 0 {
			break
		}
		if err := t.changed(); err != nil { // the first time, a page without games
			return err
		}
		if err := t.batch(ctx, batch); err != nil {
			return errors.Join(err, t.stop())
		}
	}
	t.Over = true
	return t.changed()
}

// batch plays the games of a batch that are not in the journal.
func (t *Tournament) batch(ctx context.Context, games []Game) error {
	play := func(ctx context.Context, i int) (attempt, error) {
		g := games[i]
		seats := make([]*Entrant, len(g.Seats))
		for seat, e := range g.Seats {
			seats[seat] = t.Entrants[e]
		}
		r, rec, err := t.Contest.Play(ctx, g, seats)
		return attempt{r, rec}, err
	}
	i := 0
	for a, err := range match.InOrder(ctx, max(t.Workers, 1), len(games), play) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		p := Played{Game: games[i], Result: a.result}
		if err := t.Journal.Add(&p, a.record); err != nil {
			return err
		}
		p.prove(&t.Config, t.Entrants, t.Journal.dir)
		t.Played = append(t.Played, p)
		if err := t.changed(); err != nil {
			return err
		}
		i++
	}
	return ctx.Err()
}

type attempt struct {
	result Result
	record *record.Record
}

// stop reports that no further games are played.
func (t *Tournament) stop() error {
	t.Stopped = true
	return t.changed()
}

func (t *Tournament) changed() error {
	if t.Changed == nil {
		return nil
	}
	return t.Changed(t)
}
