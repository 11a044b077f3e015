package match

import (
	"context"
	"fmt"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A TwoPlayer is a match of many games between two players. Games come in pairs: both games
// of a pair have the same seed, and the players swap seats. The pair is the unit of all
// statistics, so that the advantage of a seed or of a seat cancels out. Each game has new
// agents with seeds of their own.
type TwoPlayer struct {
	Rules   *env.Game
	A, B    Player
	Pairs   int // most pairs to play, at least 1
	Seed    uint64
	Workers int   // games played at once; below 1 counts as 1
	SPRT    *SPRT // stops the match early, if set

	// Record, if set, is called with the record of every game in order of play: pair by
	// pair, and within a pair first the game in which A has seat 0. Progress, if set, is
	// called with the result so far after every pair. Both are called from the goroutine
	// that called Play.
	Record   func(*record.Record) error
	Progress func(TwoPlayerResult)
}

// A TwoPlayerResult counts games and pairs from the view of A.
type TwoPlayerResult struct {
	Wins, Draws, Losses int
	Pairs               Pairs
	Verdict             Verdict // of the SPRT; Undecided without one
}

// Games is the number of games played.
func (r TwoPlayerResult) Games() int { return r.Wins + r.Draws + r.Losses }

// Play plays the match. The result is the same for any number of workers. If ctx ends, Play
// returns the pairs before the first unfinished one and no error. If an agent or Record
// fails, Play returns that error and the pairs before it.
func (t TwoPlayer) Play(ctx context.Context) (TwoPlayerResult, error) {
	var res TwoPlayerResult
	if err := t.check(); err != nil {
		return res, err
	}
	s := series{
		rules: t.Rules, seed: t.Seed, units: t.Pairs, workers: t.Workers, record: t.Record,
		lineups: [][]entrant{{{t.A, 0}, {t.B, 1}}, {{t.B, 3}, {t.A, 2}}},
	}
	for pair, err := range s.play(ctx) {
		if err != nil {
			return res, err
		}
		res.add(pair)
		if t.SPRT != nil {
			res.Verdict = t.SPRT.Verdict(res.Pairs)
		}
		if t.Progress != nil {
			t.Progress(res)
		}
		if res.Verdict != Undecided {
			break
		}
	}
	return res, nil
}

func (t TwoPlayer) check() error {
	switch {
	case t.Rules.MinSeats > 2 || t.Rules.MaxSeats < 2:
		return fmt.Errorf("%s has %d to %d seats: want a game for two players",
			t.Rules.Name, t.Rules.MinSeats, t.Rules.MaxSeats)
	case t.Pairs < 1:
		return fmt.Errorf("%s: %d pairs of games: want at least 1", t.Rules.Name, t.Pairs)
	case t.SPRT != nil:
		return t.SPRT.Check()
	}
	return nil
}

// add counts a pair: A has seat k in game k.
func (r *TwoPlayerResult) add(pair []*record.Record) {
	halves := 0
	for k, rec := range pair {
		switch a, b := rec.Results[k], rec.Results[1-k]; {
		case a > b:
			r.Wins++
			halves += 2
		case a < b:
			r.Losses++
		default:
			r.Draws++
			halves++
		}
	}
	r.Pairs[halves]++
}
