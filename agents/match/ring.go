package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"blockyard/datasets/record"
	"blockyard/env"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Ring is a match of many games with more than two seats: A has one seat and B all
// others. Games come in sets of equal seed in which A has every seat once, and the set is
// the unit of all statistics: what a seed or a seat is worth cancels within it.
type Ring struct {
	Rules   *env.Game
	A, B    Player
	Seats   int
	Sets    int // how many to play at most, at least 1
	Seed    uint64
	Workers int // games played at once; below 1 counts as 1

	// Record, if set, is given every game in order of play: set by set, and in a set the
	// game first in which A has seat 0. Progress, if set, is given the number of games
	// played. Both are called from the goroutine that called Play.
	Record   func(*record.Record) error
	Progress func(games int)
}

// A RingResult is what a ring came to. A rank is 1 and one more for each seat with a
// higher score.
type RingResult struct {
	Sets, Games int
	First       int // games in which nobody had a higher score than A
	Rank        float64
	Low, High   float64 // 95 % interval of Rank, from the spread of the sets' means
	OthersRank  float64 // mean over the seats of B
	Score       float64 // mean points of A
	OthersScore float64

	ranks []float64 // of A, mean of each set
}

// A set is what was played of one.
type set struct {
	index  int
	played []*record.Record
	err    error
}

// Play plays the ring. The result is the same for any number of workers. If ctx ends, Play
// returns the sets played until then, without gaps, and no error; an agent's error ends it
// with that error and the sets before.
func (r Ring) Play(ctx context.Context) (RingResult, error) {
	var res RingResult
	if r.Seats < max(2, r.Rules.MinSeats) || r.Seats > r.Rules.MaxSeats || r.Sets < 1 {
		return res, fmt.Errorf("%s: %d sets of games for %d, the game is for %d to %d", r.Rules.Name, r.Sets, r.Seats, r.Rules.MinSeats, r.Rules.MaxSeats)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := r.start(ctx)
	defer func() { // no game outlives Play
		cancel()
		for range done {
		}
	}()
	waiting := map[int]set{}
	for s := range done {
		waiting[s.index] = s
		for next, ok := waiting[res.Sets]; ok; next, ok = waiting[res.Sets] {
			delete(waiting, next.index)
			if next.err != nil {
				if ctx.Err() != nil && Stopped(next.err) {
					return res.mean(), nil
				}
				return res.mean(), next.err
			}
			if err := r.take(&res, next); err != nil {
				return res.mean(), err
			}
		}
	}
	return res.mean(), nil
}

// start plays the sets on the workers; the channel is closed when the last has ended.
func (r Ring) start(ctx context.Context) <-chan set {
	done := make(chan set)
	var next atomic.Int64
	var running sync.WaitGroup
	for range max(1, r.Workers) {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < r.Sets; i = int(next.Add(1)) - 1 {
				s := set{index: i}
				for seat := 0; seat < r.Seats && s.err == nil; seat++ {
					var rec *record.Record
					rec, s.err = r.game(ctx, i, seat)
					s.played = append(s.played, rec)
				}
				done <- s
				if s.err != nil {
					return
				}
			}
		})
	}
	go func() {
		running.Wait()
		close(done)
	}()
	return done
}

// game plays the game of set i in which A has a seat.
func (r Ring) game(ctx context.Context, i, seat int) (rec *record.Record, err error) {
	g := Game{Rules: r.Rules, Seed: env.Derive(r.Seed, uint64(i))}
	for k := range r.Seats {
		p := r.B
		if k == seat {
			p = r.A
		}
		a, err := p.New(env.Derive(g.Seed^agentStream, uint64(seat*r.Seats+k)))
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

// take counts a set and passes it on.
func (r Ring) take(res *RingResult, s set) error {
	mean := 0.0
	for seat, rec := range s.played {
		for k, score := range rec.Scores {
			rank := 1
			for _, other := range rec.Scores {
				if other > score {
					rank++
				}
			}
			if k != seat {
				res.OthersRank += float64(rank)
				res.OthersScore += float64(score)
				continue
			}
			mean += float64(rank) / float64(r.Seats)
			res.Rank += float64(rank)
			res.Score += float64(score)
			if rank == 1 {
				res.First++
			}
		}
		if r.Record != nil {
			if err := r.Record(rec); err != nil {
				return err
			}
		}
	}
	res.ranks = append(res.ranks, mean)
	res.Sets++
	res.Games += r.Seats
	if r.Progress != nil {
		r.Progress(res.Games)
	}
	return nil
}

// mean makes means of the sums. Fewer than two sets tell nothing of the interval: it is
// that of all ranks.
func (res RingResult) mean() RingResult {
	if res.Sets == 0 {
		return res
	}
	n, seats := float64(res.Games), float64(res.Games/res.Sets)
	res.Rank, res.Score = res.Rank/n, res.Score/n
	res.OthersRank, res.OthersScore = res.OthersRank/n/(seats-1), res.OthersScore/n/(seats-1)
	res.Low, res.High = 1, seats
	if res.Sets > 1 {
		sum := 0.0
		for _, v := range res.ranks {
			sum += (v - res.Rank) * (v - res.Rank)
		}
		k := float64(res.Sets)
		half := distuv.StudentsT{Sigma: 1, Nu: k - 1}.Quantile(0.975) * math.Sqrt(sum/(k-1)/k)
		res.Low, res.High = max(1, res.Rank-half), min(seats, res.Rank+half)
	}
	return res
}
