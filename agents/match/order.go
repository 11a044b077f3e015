package match

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"blockyard/datasets/record"
)

// Run plays games on the given number of workers. next returns the games that follow those played so far, and none at
// the end. keep is called with every game in order, with its record, if it has one, and why it did not end. Run ends
// with the first error of keep, or that of ctx.
func Run(ctx context.Context, workers int, runner Runner, next func() []Played,
	keep func(g *Played, rec *record.Record, err error) error) error {
	type attempt struct {
		rec *record.Record
		err error
	}
	for games := next(); len(games) > 0; games = next() {
		play := func(ctx context.Context, i int) (a attempt, _ error) {
			if a.err = ctx.Err(); a.err == nil {
				a.rec, a.err = runner.Play(ctx, &games[i])
			}
			return a, nil
		}
		i := 0
		for a := range InOrder(ctx, workers, len(games), play) {
			if err := keep(&games[i], a.rec, a.err); err != nil {
				return err
			}
			i++
		}
	}
	return ctx.Err()
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
		for range max(1, min(workers, n)) {
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
