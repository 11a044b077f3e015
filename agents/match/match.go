// Package match plays games between agents and measures which agent is stronger.
//
// Play plays one game and returns its record. A Match plays many on several goroutines:
//
//	TwoPlayer     two players; pairs of games with the seats swapped
//	MultiPlayer   one player against copies of another; sets in which it has every seat once
//	SinglePlayer  one or two players alone on the same seeds
//
// Results have 95 % confidence intervals; they print as JSON and as text. A match of two players can stop as soon as
// a sequential test (SPRT) decides, and can begin in the positions of a Book.
package match

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A Player makes a new agent for every game.
type Player struct {
	Name string
	Spec string // what the user has given the name Name; "" if nothing
	New  func(seed uint64) (env.Agent, error)
}

// A Match is many games between two players, or of one player alone. The methods TwoPlayer, MultiPlayer and
// SinglePlayer play it. The games come in units: a pair, a set or a seed. All games of a unit have the same seed, and
// the unit is the sample of all statistics, so that the advantage of a seed or of a seat cancels out. Every game has
// new agents.
//
// The result is the same for any number of workers. If the context of a method ends, the method returns the units
// before the first unfinished one and no error. If an agent or Record fails, it returns that error and the units
// before.
type Match struct {
	Rules   *env.Game
	A, B    Player // SinglePlayer can do without B
	Units   int    // pairs, sets or seeds to play at most, at least 1
	Seed    uint64
	Workers int // units played at once; below 1 counts as 1

	// Record, if set, is called with the record of every game in order: unit by unit. Progress, if set, is called
	// after every unit with the number of games played so far and a few words about them. Both are called from the
	// goroutine that called the method.
	Record   func(*record.Record) error
	Progress func(games int, text string)

	// Remote, if set, plays the units instead of PlayUnit, with the same result. It is called from several goroutines:
	// Workers is the number of units that are under way.
	Remote func(context.Context, Unit) ([]*record.Record, error)

	Book  Book  // TwoPlayer, MultiPlayer: what units begin with, in turn; nil for the first position of the rules
	SPRT  *SPRT // TwoPlayer: stops the match early, if set
	Seats int   // MultiPlayer: seats of every game
	Skip  int   // SinglePlayer: seeds to leave out before the first, to play a match in parts
	Cap   int   // SinglePlayer: score at which a game is stopped; 0 for no limit
	Steps int   // SinglePlayer: actions after which a game is stopped; 0 for no limit
}

// A Unit is some games that are played with the same seed.
type Unit struct {
	Index int         `json:"index"` // in the match
	Seed  uint64      `json:"seed"`
	Games [][]Entrant `json:"games"`           // per game, who has each seat
	Start []byte      `json:"start,omitempty"` // see Game.Start
}

// An Entrant is the player of one seat in one game of a unit.
type Entrant struct {
	B      bool   `json:"b,omitempty"` // player B; otherwise A
	Stream uint64 `json:"stream"`      // tells apart the seeds of the unit's agents
}

// player is who plays for an entrant.
func (m Match) player(e Entrant) Player {
	if e.B {
		return m.B
	}
	return m.A
}

// Name is the name of an entrant in records.
func (m Match) Name(e Entrant) string { return m.player(e).Name }

// agentStream separates the seeds of agents from those of everything else that follows from a game's seed.
const agentStream = 0x6167656e74

// PlayUnit plays a unit of the match and returns the records of its games.
func (m Match) PlayUnit(ctx context.Context, u Unit) (games []*record.Record, err error) {
	for _, lineup := range u.Games {
		rec, err := m.game(ctx, u, lineup)
		if err != nil {
			return nil, err
		}
		games = append(games, rec)
	}
	return games, nil
}

// play plays the units and calls each with the records of every unit in order, after recording them, until it returns
// false. Each lineup is a game of the unit. stopped reports whether ctx ended.
func (m Match) play(ctx context.Context, lineups [][]Entrant,
	each func([]*record.Record) bool) (stopped bool, err error) {
	play := m.PlayUnit
	if m.Remote != nil {
		play = m.Remote
	}
	unit := func(ctx context.Context, i int) (_ []*record.Record, err error) {
		u := Unit{Index: i, Seed: env.Derive(m.Seed, uint64(m.Skip+i)), Games: lineups}
		if u.Start, err = m.Book.start(m.Rules, len(lineups[0]), i, u.Seed); err != nil {
			return nil, err
		}
		return play(ctx, u)
	}
	for games, err := range InOrder(ctx, m.Workers, m.Units, unit) {
		for k := 0; k < len(games) && err == nil && m.Record != nil; k++ {
			err = m.Record(games[k])
		}
		if err != nil || !each(games) {
			return ctx.Err() != nil, err
		}
	}
	return ctx.Err() != nil, nil
}

// game plays one game with new agents and closes those that can be closed.
func (m Match) game(ctx context.Context, u Unit, lineup []Entrant) (rec *record.Record, err error) {
	g := Game{Rules: m.Rules, Seed: u.Seed, Start: u.Start, Enough: m.limit()}
	defer func() { err = errors.Join(err, Close(g.Agents)) }()
	for _, e := range lineup {
		p := m.player(e)
		a, err := p.New(env.Derive(u.Seed^agentStream, e.Stream))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		g.Names, g.Agents = append(g.Names, p.Name), append(g.Agents, a)
	}
	return Play(ctx, g)
}

// limit stops one game at Cap or after Steps.
func (m Match) limit() func(env.State) bool {
	steps := 0
	return func(s env.State) bool {
		steps++
		return m.Cap > 0 && s.Score(0) >= m.Cap || m.Steps > 0 && steps > m.Steps
	}
}

// check returns an error if the game has no such number of seats, or a field makes no sense.
func (m Match) check(seats int) error {
	g := m.Rules
	switch {
	case seats < g.MinSeats || seats > g.MaxSeats:
		return fmt.Errorf("%s has %d to %d seats: not a game for %d", g.Name, g.MinSeats, g.MaxSeats, seats)
	case m.Units < 1:
		return fmt.Errorf("%s: %d pairs, sets or seeds to play: want at least 1", g.Name, m.Units)
	case m.A.New == nil || seats > 1 && m.B.New == nil:
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

// progress calls Progress.
func (m Match) progress(games int, format string, args ...any) {
	if m.Progress != nil {
		m.Progress(games, fmt.Sprintf(format, args...))
	}
}

// InOrder runs work(ctx, 0) to work(ctx, n-1) on the given number of workers, at least one, and yields the results in
// this order. A result that is ready early is kept until its turn.
//
// The sequence ends after the first error. It ends without an error if ctx ends, with the results before the first
// that is missing. When the loop over the sequence is left, the context of the work still in progress is cancelled,
// and the loop waits for its end: no work outlives the loop.
func InOrder[T any](ctx context.Context, workers, n int,
	work func(context.Context, int) (T, error)) iter.Seq2[T, error] {
	type result struct {
		index int
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		workCtx, cancel := context.WithCancel(ctx)
		results := make(chan result)
		var started atomic.Int64
		var running sync.WaitGroup
		for range max(1, workers) {
			running.Go(func() {
				for i := int(started.Add(1)) - 1; i < n; i = int(started.Add(1)) - 1 {
					v, err := work(workCtx, i)
					results <- result{i, v, err}
					if err != nil {
						return
					}
				}
			})
		}
		go func() {
			running.Wait()
			close(results)
		}()
		defer func() {
			cancel()
			for range results {
			}
		}()
		early := map[int]result{}
		next := 0
		for r := range results {
			early[r.index] = r
			for r, ready := early[next]; ready; r, ready = early[next] {
				delete(early, next)
				next++
				if ctx.Err() != nil && Stopped(r.err) || !yield(r.value, r.err) || r.err != nil {
					return
				}
			}
		}
	}
}
