package match

import (
	"context"
	"fmt"

	"blockyard/datasets/record"
)

// A MultiPlayerResult says how A did among several seats of B. The rank of a seat is 1 plus the number of seats with
// a higher score. It marshals to JSON; String is a table for people.
type MultiPlayerResult struct {
	Game        string  `json:"game"`
	A           string  `json:"a"`
	B           string  `json:"b"`
	Seats       int     `json:"seats"`
	Seed        uint64  `json:"seed"`
	Sets        int     `json:"sets"`
	Games       int     `json:"games"`
	First       int     `json:"first"` // games in which no seat had a higher score than A
	Rank        float64 `json:"mean_rank"`
	Low         float64 `json:"low"` // 95 % interval of Rank; its samples are the means of the sets
	High        float64 `json:"high"`
	OthersRank  float64 `json:"others_mean_rank"` // mean over the seats of B
	Score       float64 `json:"mean_points"`
	OthersScore float64 `json:"others_mean_points"`
	Stopped     bool    `json:"stopped,omitempty"` // the context ended
}

// MultiPlayer plays sets of games with m.Seats seats, of which A has one and B all others. In the games of a set A
// has every seat once, beginning with seat 0.
func (m Match) MultiPlayer(ctx context.Context) (MultiPlayerResult, error) {
	r := MultiPlayerResult{Game: m.Rules.Name, A: m.A.Name, B: m.B.Name, Seats: m.Seats, Seed: m.Seed}
	if err := m.check(max(2, m.Seats)); err != nil {
		return r, err
	}
	var lineups [][]entrant
	for seat := range m.Seats {
		lineup := make([]entrant, m.Seats)
		for k := range lineup {
			lineup[k] = entrant{m.B, uint64(seat*m.Seats + k)}
		}
		lineup[seat].Player = m.A
		lineups = append(lineups, lineup)
	}
	var ranks []float64 // mean rank of A in every set
	var err error
	r.Stopped, err = m.play(ctx, lineups, func(set []*record.Record) bool {
		ranks = append(ranks, r.add(set))
		m.progress(r.Games, "")
		return true
	})
	r.divide(ranks)
	return r, err
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

// divide makes means of the sums and adds the interval of the mean rank.
func (r *MultiPlayerResult) divide(ranks []float64) {
	if r.Sets == 0 {
		return
	}
	n, seats := float64(r.Games), float64(r.Seats)
	r.Rank, r.Score = r.Rank/n, r.Score/n
	r.OthersRank, r.OthersScore = r.OthersRank/n/(seats-1), r.OthersScore/n/(seats-1)
	r.Low, r.High = 1, seats
	if r.Sets > 1 {
		half := halfWidth(ranks, nil)
		r.Low, r.High = max(1, r.Rank-half), min(seats, r.Rank+half)
	}
}

// String implements fmt.Stringer.
func (r MultiPlayerResult) String() string {
	return fmt.Sprintf(`%s for %d: one %s among %s, seed %d
%sgames   %d in %d sets, first in %d
rank    %.3f, 95 %% interval %.3f to %.3f; the others %.3f
points  %.2f; the others %.2f
`, r.Game, r.Seats, r.A, r.B, r.Seed, early(r.Stopped), r.Games, r.Sets, r.First,
		r.Rank, r.Low, r.High, r.OthersRank, r.Score, r.OthersScore)
}
