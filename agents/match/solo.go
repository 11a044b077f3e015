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

// A Solo is a match in a game of one seat: one player, or two, play the same seeds, each
// alone. The seed is the unit of all statistics.
type Solo struct {
	Rules   *env.Game
	Players []Player // one or two
	Games   int      // seeds to play at most, at least 1
	Skip    int      // seeds of the match that are left out before them, played elsewhere
	Seed    uint64
	Workers int // games played at once; below 1 counts as 1
	Cap     int // score at which a game is stopped; 0 for none
	Steps   int // choices after which a game is stopped; 0 for none

	// Record, if set, is given every game in order of play: seed by seed, and of a seed
	// the game of the first player first. Progress, if set, is given the runs so far after
	// every seed. Both are called from the goroutine that called Play.
	Record   func(*record.Record) error
	Progress func([]Runs)
}

// A Seeded is what one player made of one seed.
type Seeded struct {
	Score int
	Steps int  // choices made
	Ended bool // else the game was stopped by Cap or Steps
}

// Runs are what a player made of the seeds, in order.
type Runs []Seeded

// A sown is what all players made of one seed.
type sown struct {
	index  int
	played []*record.Record
	err    error
}

// Play plays the match and returns the runs of each player. They are the same for any
// number of workers. If ctx ends, Play returns the seeds played until then, without gaps,
// and no error; an agent's error ends it with that error and the seeds before.
func (s Solo) Play(ctx context.Context) ([]Runs, error) {
	runs := make([]Runs, len(s.Players))
	if err := s.check(); err != nil {
		return runs, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := s.start(ctx)
	defer func() { // no game outlives Play
		cancel()
		for range done {
		}
	}()
	waiting := make(map[int]sown)
	for p := range done {
		waiting[p.index] = p
		for next, ok := waiting[len(runs[0])]; ok; next, ok = waiting[len(runs[0])] {
			delete(waiting, next.index)
			if next.err != nil {
				if ctx.Err() != nil && Stopped(next.err) {
					return runs, nil
				}
				return runs, next.err
			}
			if err := s.take(runs, next); err != nil {
				return runs, err
			}
		}
	}
	return runs, nil
}

func (s Solo) check() error {
	switch {
	case s.Rules.MinSeats != 1:
		return fmt.Errorf("%s: a solo match is for one seat, the game is for %d to %d", s.Rules.Name, s.Rules.MinSeats, s.Rules.MaxSeats)
	case len(s.Players) < 1 || len(s.Players) > 2:
		return fmt.Errorf("%s: %d players, want one or two", s.Rules.Name, len(s.Players))
	case s.Games < 1:
		return fmt.Errorf("%s: %d games, want at least 1", s.Rules.Name, s.Games)
	case s.Cap < 0 || s.Steps < 0 || s.Skip < 0:
		return errors.New("a game cannot be stopped before it begins")
	}
	return nil
}

// start plays the seeds on the workers; the channel is closed when the last has ended.
// After an error a worker goes no further.
func (s Solo) start(ctx context.Context) <-chan sown {
	done := make(chan sown)
	var next atomic.Int64
	var running sync.WaitGroup
	for range max(1, s.Workers) {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= s.Games {
					return
				}
				p := sown{index: i}
				for _, who := range s.Players {
					var rec *record.Record
					if rec, p.err = s.game(ctx, i, who); p.err != nil {
						break
					}
					p.played = append(p.played, rec)
				}
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

// game plays seed i with one player.
func (s Solo) game(ctx context.Context, i int, who Player) (rec *record.Record, err error) {
	seed := env.Derive(s.Seed, uint64(s.Skip+i))
	a, err := who.New(env.Derive(seed^agentStream, 0))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", who.Name, err)
	}
	if c, ok := a.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	steps := 0
	g := Game{Rules: s.Rules, Seed: seed, Names: []string{who.Name}, Agents: []env.Agent{a}}
	g.Enough = func(state env.State) bool {
		steps++
		return s.Cap > 0 && state.Score(0) >= s.Cap || s.Steps > 0 && steps > s.Steps
	}
	return Play(ctx, g)
}

// take counts a seed and passes its games on.
func (s Solo) take(runs []Runs, p sown) error {
	for k, rec := range p.played {
		runs[k] = append(runs[k], Seeded{rec.Scores[0], len(rec.Choices), !rec.Stopped})
		if s.Record != nil {
			if err := s.Record(rec); err != nil {
				return err
			}
		}
	}
	if s.Progress != nil {
		s.Progress(runs)
	}
	return nil
}
