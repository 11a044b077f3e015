package match

import (
	"context"
	"fmt"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A SinglePlayer is a match in a game of one seat: one player, or two, play the same seeds,
// each by itself. The seed is the unit of all statistics.
type SinglePlayer struct {
	Rules   *env.Game
	Players []Player // one or two
	Games   int      // most seeds to play, at least 1
	Skip    int      // seeds of the match to leave out before the first, to play it in parts
	Seed    uint64
	Workers int // seeds played at once; below 1 counts as 1
	Cap     int // score at which a game is stopped; 0 for no limit
	Steps   int // actions after which a game is stopped; 0 for no limit

	// Record, if set, is called with the record of every game in order of play: seed by
	// seed, and for each seed the first player first. Progress, if set, is called with the
	// runs so far after every seed. Both are called from the goroutine that called Play.
	Record   func(*record.Record) error
	Progress func([]Runs)
}

// A Run is the result of one player with one seed.
type Run struct {
	Score int
	Steps int  // actions taken
	Ended bool // false if the game was stopped by Cap or Steps
}

// Runs are the results of one player, seed by seed.
type Runs []Run

// Play plays the match and returns the runs of each player. They are the same for any number
// of workers. If ctx ends, Play returns the seeds before the first unfinished one and no
// error. If an agent or Record fails, Play returns that error and the seeds before it.
func (s SinglePlayer) Play(ctx context.Context) ([]Runs, error) {
	runs := make([]Runs, len(s.Players))
	if err := s.check(); err != nil {
		return runs, err
	}
	all := series{
		rules: s.Rules, seed: s.Seed, skip: s.Skip, units: s.Games, workers: s.Workers,
		limit: s.limit, record: s.Record,
	}
	for _, p := range s.Players {
		all.lineups = append(all.lineups, []entrant{{p, 0}})
	}
	for games, err := range all.play(ctx) {
		if err != nil {
			return runs, err
		}
		for k, rec := range games {
			runs[k] = append(runs[k], Run{rec.Scores[0], len(rec.Choices), !rec.Stopped})
		}
		if s.Progress != nil {
			s.Progress(runs)
		}
	}
	return runs, nil
}

func (s SinglePlayer) check() error {
	switch {
	case s.Rules.MinSeats != 1:
		return fmt.Errorf("%s has %d to %d seats: want a game of one seat", s.Rules.Name, s.Rules.MinSeats, s.Rules.MaxSeats)
	case len(s.Players) < 1 || len(s.Players) > 2:
		return fmt.Errorf("%s: %d players: want one or two", s.Rules.Name, len(s.Players))
	case s.Games < 1:
		return fmt.Errorf("%s: %d games: want at least 1", s.Rules.Name, s.Games)
	case s.Cap < 0 || s.Steps < 0 || s.Skip < 0:
		return fmt.Errorf("%s: cap %d, steps %d, skip %d: want none below 0", s.Rules.Name, s.Cap, s.Steps, s.Skip)
	}
	return nil
}

// limit stops one game at Cap or after Steps.
func (s SinglePlayer) limit() func(env.State) bool {
	asked := 0
	return func(state env.State) bool {
		asked++
		return s.Cap > 0 && state.Score(0) >= s.Cap || s.Steps > 0 && asked > s.Steps
	}
}
