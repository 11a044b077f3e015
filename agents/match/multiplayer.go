package match

import (
	"context"
	"fmt"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A MultiPlayer is a match of many games with more than two seats: player A has one seat and
// player B all others. Games come in sets: all games of a set have the same seed, and A has
// every seat once. The set is the unit of all statistics, so that the advantage of a seed or
// of a seat cancels out.
type MultiPlayer struct {
	Rules   *env.Game
	A, B    Player
	Seats   int // of every game
	Sets    int // most sets to play, at least 1
	Seed    uint64
	Workers int // games played at once; below 1 counts as 1

	// Record, if set, is called with the record of every game in order of play: set by set,
	// and within a set by the seat of A. Progress, if set, is called with the number of
	// games played after every set. Both are called from the goroutine that called Play.
	Record   func(*record.Record) error
	Progress func(games int)
}

// A MultiPlayerResult is the result of a match. The rank of a seat is 1 plus the number of
// seats with a higher score.
type MultiPlayerResult struct {
	Sets, Games int
	First       int // games in which no seat had a higher score than A
	Rank        float64
	Low, High   float64 // 95 % interval of Rank; its samples are the mean ranks of the sets
	OthersRank  float64 // mean over the seats of B
	Score       float64 // mean points of A
	OthersScore float64
}

// Play plays the match. The result is the same for any number of workers. If ctx ends, Play
// returns the sets before the first unfinished one and no error. If an agent or Record
// fails, Play returns that error and the sets before it.
func (m MultiPlayer) Play(ctx context.Context) (MultiPlayerResult, error) {
	var sum MultiPlayerResult
	if m.Seats < max(2, m.Rules.MinSeats) || m.Seats > m.Rules.MaxSeats || m.Sets < 1 {
		return sum, fmt.Errorf("%s: %d sets of games with %d seats: want at least 1 set and %d to %d seats",
			m.Rules.Name, m.Sets, m.Seats, max(2, m.Rules.MinSeats), m.Rules.MaxSeats)
	}
	s := series{rules: m.Rules, seed: m.Seed, units: m.Sets, workers: m.Workers, record: m.Record}
	for seat := range m.Seats {
		var lineup []entrant
		for k := range m.Seats {
			p := m.B
			if k == seat {
				p = m.A
			}
			lineup = append(lineup, entrant{p, uint64(seat*m.Seats + k)})
		}
		s.lineups = append(s.lineups, lineup)
	}
	var ranks []float64 // mean rank of A in every set
	for set, err := range s.play(ctx) {
		if err != nil {
			return sum.means(ranks), err
		}
		ranks = append(ranks, sum.add(set))
		if m.Progress != nil {
			m.Progress(sum.Games)
		}
	}
	return sum.means(ranks), nil
}

// add adds a set to the sums and returns the mean rank of A in it.
func (r *MultiPlayerResult) add(set []*record.Record) float64 {
	mean := 0.0
	for seat, rec := range set {
		for k, score := range rec.Scores {
			rank := 1
			for _, other := range rec.Scores {
				if other > score {
					rank++
				}
			}
			if k != seat {
				r.OthersRank += float64(rank)
				r.OthersScore += float64(score)
				continue
			}
			mean += float64(rank) / float64(len(set))
			r.Rank += float64(rank)
			r.Score += float64(score)
			if rank == 1 {
				r.First++
			}
		}
	}
	r.Sets++
	r.Games += len(set)
	return mean
}

// means divides the sums and adds the interval of the mean rank.
func (r MultiPlayerResult) means(ranks []float64) MultiPlayerResult {
	if r.Sets == 0 {
		return r
	}
	n, seats := float64(r.Games), float64(r.Games/r.Sets)
	r.Rank, r.Score = r.Rank/n, r.Score/n
	r.OthersRank, r.OthersScore = r.OthersRank/n/(seats-1), r.OthersScore/n/(seats-1)
	r.Low, r.High = 1, seats
	if r.Sets > 1 {
		half := halfWidth(ranks, nil)
		r.Low, r.High = max(1, r.Rank-half), min(seats, r.Rank+half)
	}
	return r
}
