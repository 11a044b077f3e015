package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A Player makes a new agent for every game.
type Player struct {
	Name string
	New  func(seed uint64) (env.Agent, error)
}

// A Table is a match of many games between two players, for a game that two can play.
// Games come in pairs of equal seed with the seats swapped, and the pair is the unit of
// all statistics: what a seed or a seat is worth cancels within it. Random choices of a
// player are fresh in every game.
type Table struct {
	Rules   *env.Game
	A, B    Player
	Pairs   int // how many to play at most, at least 1
	Seed    uint64
	Workers int   // games played at once; below 1 counts as 1
	SPRT    *SPRT // stops the table early, if set

	// Record, if set, is given every game in order of play: pair by pair, and in a pair
	// the game first in which A has seat 0. Progress, if set, is given the state of
	// things after every pair. Both are called from the goroutine that called Play.
	Record   func(*record.Record) error
	Progress func(Result)
}

// A Result is what a table came to, from the view of A.
type Result struct {
	Wins, Draws, Losses int
	Pairs               Pairs
	Verdict             Verdict // of the SPRT, Undecided without one
}

// Games is how many games were played.
func (r Result) Games() int { return r.Wins + r.Draws + r.Losses }

// agentStream separates the seeds of agents from those of everything else that follows
// from a game's seed.
const agentStream = 0x6167656e74

// A pair is two games of equal seed.
type pair struct {
	index  int
	played [2]*record.Record
	err    error
}

// Play plays the table. The result is the same for any number of workers. If ctx ends,
// Play returns the pairs played until then, without gaps, and no error; an agent's error
// ends it with that error and the pairs before.
func (t Table) Play(ctx context.Context) (Result, error) {
	var res Result
	if err := t.check(); err != nil {
		return res, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := t.start(ctx)
	defer func() { // no game outlives Play
		cancel()
		for range done {
		}
	}()
	waiting := make(map[int]pair)
	for p := range done {
		waiting[p.index] = p
		for next, ok := waiting[res.Pairs.N()]; ok; next, ok = waiting[res.Pairs.N()] {
			delete(waiting, next.index)
			if next.err != nil {
				if ctx.Err() != nil && Stopped(next.err) {
					return res, nil
				}
				return res, next.err
			}
			if err := t.take(&res, next); err != nil {
				return res, err
			}
			if res.Verdict != Undecided {
				return res, nil
			}
		}
	}
	return res, nil
}

func (t Table) check() error {
	switch {
	case t.Rules.MinSeats > 2 || t.Rules.MaxSeats < 2:
		return fmt.Errorf("%s: a table is for two players, the game is for %d to %d", t.Rules.Name, t.Rules.MinSeats, t.Rules.MaxSeats)
	case t.Pairs < 1:
		return fmt.Errorf("%s: %d pairs of games, want at least 1", t.Rules.Name, t.Pairs)
	case t.SPRT != nil:
		return t.SPRT.Check()
	}
	return nil
}

// start plays the pairs on the workers; the channel is closed when the last has ended.
// After an error a worker goes no further.
func (t Table) start(ctx context.Context) <-chan pair {
	done := make(chan pair)
	var next atomic.Int64
	var running sync.WaitGroup
	for range max(1, t.Workers) {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= t.Pairs {
					return
				}
				p := t.pair(ctx, i)
				done <- p
				if p.err != nil {
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

// pair plays pair i.
func (t Table) pair(ctx context.Context, i int) pair {
	p := pair{index: i}
	for k := range p.played {
		if p.played[k], p.err = t.game(ctx, i, k); p.err != nil {
			break
		}
	}
	return p
}

// game plays game k of pair i: A has seat k.
func (t Table) game(ctx context.Context, i, k int) (rec *record.Record, err error) {
	g := Game{Rules: t.Rules, Seed: env.Derive(t.Seed, uint64(i)), Names: make([]string, 2), Agents: make([]env.Agent, 2)}
	for n, p := range [2]Player{t.A, t.B} {
		a, err := p.New(env.Derive(g.Seed^agentStream, uint64(2*k+n)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		if c, ok := a.(io.Closer); ok {
			defer func() { err = errors.Join(err, c.Close()) }()
		}
		g.Names[k^n], g.Agents[k^n] = p.Name, a
	}
	return Play(ctx, g)
}

// take counts a pair and passes it on.
func (t Table) take(res *Result, p pair) error {
	points := 0
	for k, rec := range p.played {
		switch mine, theirs := rec.Results[k], rec.Results[1-k]; {
		case mine > theirs:
			res.Wins++
			points += 2
		case mine < theirs:
			res.Losses++
		default:
			res.Draws++
			points++
		}
		if t.Record != nil {
			if err := t.Record(rec); err != nil {
				return err
			}
		}
	}
	res.Pairs[points]++
	if t.SPRT != nil {
		res.Verdict = t.SPRT.Verdict(res.Pairs)
	}
	if t.Progress != nil {
		t.Progress(*res)
	}
	return nil
}
