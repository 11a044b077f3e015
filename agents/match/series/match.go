package series

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A Match is one game between programs, each in its seat.
type Match struct {
	Rules  *env.Game
	Seed   uint64
	Seats  []contest.Player // by seat
	Setup  *contest.Setup
	Log    *os.File  // gets all that is said; nil keeps nothing. Play closes it
	Errors io.Writer // gets the bots' standard error; may be nil
}

// Played is a game that was played to its end.
type Played struct {
	contest.Outcome
	Turns   int             // that were played: positions of the record, but the last
	Names   []string        // of the seats
	Tallies []contest.Tally // by seat
}

// Play plays the game. The record is valid, and of an unfinished game, also with an error of ctx or of a bot that
// did not start.
func (m *Match) Play(ctx context.Context) (p Played, rec *record.Record, err error) {
	state := m.Rules.New(len(m.Seats))
	state.Reset(m.Seed)
	var names []string
	for _, b := range m.Seats {
		names = append(names, b.Agent)
	}
	rec = record.New(m.Rules, m.Seed, names)
	host, changed, err := m.Setup.New(state, func(acting env.Seats, moves env.Moves) {
		p.Turns++
		rec.Add(acting, moves)
	})
	if err == nil && changed {
		rec.Start, err = env.Encode(nil, state)
	}
	if err != nil {
		if m.Log != nil {
			err = errors.Join(err, m.Log.Close())
		}
		return p, nil, err
	}
	p.Names = host.Referee.Names()
	log := newLog(p.Names, m.Errors, m.Log)
	host.Log = log.line
	for seat, b := range m.Seats {
		log.line(contest.Note, -1, log.names[seat]+" is "+b.Name)
	}
	host.Start = func(seat int) (contest.Asker, error) {
		bot, err := m.Seats[seat].Start(func(text string) { log.line(contest.Error, seat, text) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Seats[seat].Name, err)
		}
		return bot, nil
	}
	p.Tallies, err = host.Play(ctx)
	p.Outcome = host.Referee.Outcome()
	rec.End(state)
	rec.Meta = p.Meta
	return p, rec, errors.Join(err, log.close())
}
