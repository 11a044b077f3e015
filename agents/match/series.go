package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A Player makes a new agent for every game.
type Player struct {
	Name string
	New  func(seed uint64) (env.Agent, error)
}

// A series is what the three kinds of match have in common: many units, each of which is
// the same few games from one seed. A unit is a pair, a set or a seed of the match.
type series struct {
	rules   *env.Game
	seed    uint64
	skip    int // units of the match that are left out before the first
	units   int
	workers int
	lineups [][]entrant                 // the games of a unit: a player for every seat
	limit   func() func(env.State) bool // if set, makes the Enough of every game
	record  func(*record.Record) error
}

// An entrant is the player of one seat in one game of a unit.
type entrant struct {
	Player
	stream uint64 // tells apart the seeds of the unit's agents
}

// agentStream separates the seeds of agents from those of everything else that follows
// from a game's seed.
const agentStream = 0x6167656e74

// play plays the units and yields the records of each, in order, after recording them. The
// records are the same for any number of workers. The errors are those of InOrder, with an
// agent or with the file of records.
func (s series) play(ctx context.Context) iter.Seq2[[]*record.Record, error] {
	return func(yield func([]*record.Record, error) bool) {
		for games, err := range InOrder(ctx, s.workers, s.units, s.unit) {
			for k := 0; k < len(games) && err == nil && s.record != nil; k++ {
				err = s.record(games[k])
			}
			if !yield(games, err) || err != nil {
				return
			}
		}
	}
}

// unit plays the games of unit i.
func (s series) unit(ctx context.Context, i int) ([]*record.Record, error) {
	var games []*record.Record
	for _, lineup := range s.lineups {
		rec, err := s.game(ctx, env.Derive(s.seed, uint64(s.skip+i)), lineup)
		if err != nil {
			return nil, err
		}
		games = append(games, rec)
	}
	return games, nil
}

// game plays one game with new agents and closes those that can be closed.
func (s series) game(ctx context.Context, seed uint64, lineup []entrant) (rec *record.Record, err error) {
	g := Game{Rules: s.rules, Seed: seed}
	if s.limit != nil {
		g.Enough = s.limit()
	}
	for _, p := range lineup {
		a, err := p.New(env.Derive(seed^agentStream, p.stream))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		if c, ok := a.(io.Closer); ok {
			defer func() { err = errors.Join(err, c.Close()) }()
		}
		g.Names, g.Agents = append(g.Names, p.Name), append(g.Agents, a)
	}
	return Play(ctx, g)
}
