// Package match plays games between agents and measures which agent is stronger.
//
// Play plays one game and returns its record. A Match plays many on several goroutines, in units of games with the same
// seed, which are the samples of all statistics:
//
//	pairs   games of two seats, with the seats swapped
//	sets    games of more seats, in which one player has every seat once among copies of another
//	alone   games of one seat: every player plays the seed
//
// What many games come to is a Report, also where programs play (packages series and tournament): a table of the
// players with their ratings, and how every two of them did against each other, with 95 % intervals. A match of two
// players can stop as soon as a sequential test (SPRT) decides, and can begin in the positions of a Book.
package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A Player makes a new agent for every game.
type Player struct {
	Name string                               `json:"name"` // in records
	Spec string                               `json:"spec"` // what the user has given the name Name; "" if nothing
	New  func(seed uint64) (env.Agent, error) `json:"-"`
}

// A Match is many games between two players, or of one player alone. All games of a unit have the same seed,
// so that the advantage of a seed or of a seat cancels out. Every game has new agents.
//
// The result is the same for any number of workers. If the context of Play ends, it returns the units before the first
// unfinished one and no error. If an agent or Record fails, it returns that error and the units before.
type Match struct {
	Rules   *env.Game
	Players []Player // two, or one in a game of one seat
	Units   int      // pairs, sets or seeds to play at most, at least 1
	Seed    uint64
	Workers int // units played at once; below 1 counts as 1

	// Record, if set, is called with the record of every game in order: unit by unit. Progress, if set, is called
	// after every unit with the number of games played so far and a few words about them. Both run where Play was called.
	Record   func(*record.Record) error
	Progress func(games int, text string)

	// Remote, if set, plays the units instead of PlayUnit, with the same result. It is called from several goroutines:
	// Workers is the number of units that are under way.
	Remote func(context.Context, Unit) ([]*record.Record, error)

	Book  Book  // what units begin with, in turn; nil for the first position of the rules. Not for one seat
	SPRT  *SPRT // stops pairs early, if set
	Seats int   // of every game; 0 is two, or one if the game has one
	Skip  int   // in a game of one seat: seeds to leave out before the first, to play a match in parts
	Cap   int   // in a game of one seat: score at which a game is stopped; 0 for no limit
	Steps int   // in a game of one seat: actions after which a game is stopped; 0 for no limit
}

// A Unit is some games that are played with the same seed.
type Unit struct {
	Index int         `json:"index"` // in the match
	Seed  uint64      `json:"seed"`
	Games [][]Entrant `json:"games"`           // per game, who has each seat
	Start []byte      `json:"start,omitempty"` // see Game.Start

	Players []Player `json:"players,omitempty"` // of this unit, in place of the match's
}

// An Entrant is the player of one seat in one game of a unit.
type Entrant struct {
	Player int    `json:"player,omitempty"` // in Match.Players
	Stream uint64 `json:"stream"`           // tells apart the seeds of the unit's agents
}

// Play plays the games of the match until all are played, a sequential test decides or ctx ends, and returns the
// report of those that were played.
func (m Match) Play(ctx context.Context) (*Report, error) {
	if err := m.check(); err != nil {
		return &Report{}, err
	}
	var played []Played
	var pairs Pairs
	var failed error
	units, total, verdict, before := 0, 0, Undecided, Repetitions{}
	for records, err := range InOrder(ctx, m.Workers, m.Units, m.work) {
		for k := 0; k < len(records) && err == nil && m.Record != nil; k++ {
			err = m.Record(records[k])
		}
		if failed = err; failed != nil {
			break
		}
		games, halves := m.count(m.unit(m.Skip+units), records, len(played))
		again := before.Note(games)
		played = append(played, games...)
		units++
		text := ""
		switch m.GameSeats() {
		case 1:
			total += records[0].Scores[0]
			text = fmt.Sprintf("mean %.0f", float64(total)/float64(units))
		case 2:
			if !again {
				pairs[halves]++
			}
			text = fmt.Sprintf("score %.1f %%", 100*pairs.Score())
			if m.SPRT != nil {
				verdict = m.SPRT.Verdict(pairs)
			}
		}
		if m.Progress != nil {
			m.Progress(len(played), text)
		}
		if verdict != Undecided {
			break
		}
	}
	return m.report(played, ctx.Err() != nil), failed
}

// work plays unit i of those that are not skipped.
func (m Match) work(ctx context.Context, i int) (_ []*record.Record, err error) {
	u := m.unit(m.Skip + i)
	if u.Start, err = m.Book.start(m.Rules, m.GameSeats(), u.Index, u.Seed); err != nil {
		return nil, err
	}
	if m.Remote != nil {
		return m.Remote(ctx, u)
	}
	return m.PlayUnit(ctx, u)
}

// count returns the games of a unit, numbered from first on, and the half points of the first player in games of two.
func (m Match) count(u Unit, records []*record.Record, first int) (games []Played, halves int) {
	for k, rec := range records {
		p := Played{Unit: u.Index, Number: first + k, Seed: strconv.FormatUint(rec.Seed, 10)}
		for _, e := range u.Games[k] {
			p.Seats = append(p.Seats, e.Player)
		}
		p.note(m.Rules, rec, len(rec.Choices))
		games = append(games, p)
		if len(p.Ranks) == 2 { // the first player has seat k
			halves += 1 + p.Ranks[1-k] - p.Ranks[k]
			games[k].Alike = k > 0 && slices.Equal(rec.Choices, records[0].Choices)
		}
	}
	return games, halves
}

func (m Match) report(played []Played, stopped bool) *Report {
	var names []string
	for _, p := range m.Players {
		names = append(names, p.Name)
	}
	out := ReportOf(m.Rules, strconv.FormatUint(m.Seed, 10), names, played)
	out.Seats, out.Stopped = m.GameSeats(), stopped
	out.Limit(map[string]int{"skip": m.Skip, "cap": m.Cap, "steps": m.Steps})
	if m.SPRT != nil {
		out.Decide(m.SPRT)
	}
	return out
}

// check returns an error if the game has no such number of seats, or a field makes no sense.
func (m Match) check() error {
	g, seats := m.Rules, m.GameSeats()
	switch {
	case seats < g.MinSeats || seats > g.MaxSeats:
		return fmt.Errorf("%s has %d to %d seats: not a game for %d", g.Name, g.MinSeats, g.MaxSeats, seats)
	case m.Units < 1:
		return fmt.Errorf("%s: %d pairs, sets or seeds to play: want at least 1", g.Name, m.Units)
	case len(m.Players) < min(seats, 2) || slices.ContainsFunc(m.Players, func(p Player) bool { return p.New == nil }):
		return fmt.Errorf("%s: a player is missing", g.Name)
	case seats > 1 && (m.Cap != 0 || m.Steps != 0 || m.Skip != 0):
		return fmt.Errorf("%s: cap, steps and skip are for games of one seat", g.Name)
	case m.Cap < 0 || m.Steps < 0 || m.Skip < 0:
		return fmt.Errorf("%s: cap %d, steps %d, skip %d: want none below 0", g.Name, m.Cap, m.Steps, m.Skip)
	case m.SPRT != nil:
		return m.SPRT.Check()
	}
	return nil
}

// Of returns the match of a unit alone, with the unit's players if it has its own.
func (m Match) Of(u Unit) Match {
	if len(u.Players) > 0 {
		m.Players = u.Players
	}
	return m
}

// GameSeats is the number of seats of every game.
func (m Match) GameSeats() int { return max(min(2, m.Rules.MaxSeats), m.Seats) }

// unit returns a unit of the match, but for its first position.
func (m Match) unit(i int) Unit {
	u := Unit{Index: i, Seed: env.Derive(m.Seed, uint64(i))}
	switch n := m.GameSeats(); n {
	case 1:
		for p := range m.Players {
			u.Games = append(u.Games, []Entrant{{Player: p}})
		}
	case 2:
		u.Games = [][]Entrant{pairing(0, 1, 0), pairing(1, 0, 1)}
	default:
		for seat := range n {
			lineup := make([]Entrant, n)
			for k := range lineup {
				lineup[k] = Entrant{1, uint64(seat*n + k)}
			}
			lineup[seat].Player = 0
			u.Games = append(u.Games, lineup)
		}
	}
	return u
}

// pairing is who has each seat in game k of a pair. Each player has a stream of its own in each game.
func pairing(first, second, k int) []Entrant {
	return []Entrant{{first, uint64(3 * k)}, {second, uint64(1 + k)}}
}

// agentStream separates the seeds of agents from those of everything else that follows from a game's seed.
const agentStream = 0x6167656e74

// PlayUnit plays a unit of the match and returns the records of its games.
func (m Match) PlayUnit(ctx context.Context, u Unit) (games []*record.Record, err error) {
	for _, lineup := range u.Games {
		rec, err := m.Of(u).game(ctx, u, lineup, nil)
		if err != nil {
			return nil, err
		}
		games = append(games, rec)
	}
	return games, nil
}

// game plays one game with new agents and closes those that can be closed. With choices, which it adds to, a game of
// one seat is brief.
func (m Match) game(ctx context.Context, u Unit, lineup []Entrant, choices *int) (rec *record.Record, err error) {
	steps := 0
	g := Game{Rules: m.Rules, Seed: u.Seed, Start: u.Start, Brief: choices != nil && len(lineup) == 1}
	g.Enough = func(s env.State) bool {
		steps++
		enough := m.Cap > 0 && s.Score(0) >= m.Cap || m.Steps > 0 && steps > m.Steps
		if choices != nil && !enough {
			*choices += s.Acting().Len()
		}
		return enough
	}
	defer func() { err = errors.Join(err, Close(g.Agents)) }()
	for _, e := range lineup {
		p := m.Players[e.Player]
		a, err := p.New(env.Derive(u.Seed^agentStream, e.Stream))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		g.Names, g.Agents = append(g.Names, p.Name), append(g.Agents, a)
	}
	return Play(ctx, g)
}

// Agents plays games of one or two seats between agents, as those of a Match.
type Agents struct{ Match }

// Play implements Runner, without a record. The games of a pair have numbers that follow each other, the first even.
func (a *Agents) Play(ctx context.Context, g *Played) (*record.Record, error) {
	seed, err := strconv.ParseUint(g.Seed, 10, 64)
	if err != nil {
		return nil, err
	}
	lineup := []Entrant{{Player: g.Seats[0]}}
	if len(g.Seats) == 2 {
		lineup = pairing(g.Seats[0], g.Seats[1], g.Number%2)
	}
	choices := 0
	rec, err := a.game(ctx, Unit{Seed: seed}, lineup, &choices)
	if err == nil {
		g.note(a.Rules, rec, choices)
	}
	return nil, err
}
