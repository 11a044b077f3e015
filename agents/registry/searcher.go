package registry

import (
	"context"
	"sync"
	"time"

	"blockyard/agents/search"
	"blockyard/env"
)

// searcher returns the factory of a search with evaluator e. All its agents together hold
// only as many searches, each with its pools of positions, as ever think at once: a
// thousand games cost no more memory than the cores that play them.
func searcher(g *env.Game, e evaluator, o options) (Factory, error) {
	judge, err := e.open(g, o.weights)
	if err != nil {
		return nil, err
	}
	l := &lender{make: func() (env.Agent, error) {
		j, err := judge()
		if err != nil {
			return nil, err
		}
		return search.New(g, j, o.Options)
	}}
	a, err := l.take()
	if err != nil {
		return nil, err
	}
	l.give(a)
	return func(uint64) (env.Agent, error) { return &borrower{lender: l, limit: o.limit}, nil }, nil
}

// A lender keeps searches that nobody uses at the moment. Searches carry nothing over
// from one choice to the next, so that any will do.
type lender struct {
	make func() (env.Agent, error)
	mu   sync.Mutex
	free []env.Agent
}

func (l *lender) take() (env.Agent, error) {
	l.mu.Lock()
	if n := len(l.free); n > 0 {
		a := l.free[n-1]
		l.free = l.free[:n-1]
		l.mu.Unlock()
		return a, nil
	}
	l.mu.Unlock()
	return l.make()
}

func (l *lender) give(a env.Agent) {
	l.mu.Lock()
	l.free = append(l.free, a)
	l.mu.Unlock()
}

// A borrower is an agent that borrows a search for each choice.
type borrower struct {
	lender *lender
	limit  time.Duration // for a choice; 0 for none
	value  float32
}

// Act implements env.Agent.
func (b *borrower) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	inner, err := b.lender.take()
	if err != nil {
		return env.None, err
	}
	defer b.lender.give(inner)
	if b.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, b.limit)
		defer cancel()
	}
	a, err := inner.Act(ctx, s, seat)
	if r, ok := inner.(search.Reporter); ok {
		b.value = r.Value()
	}
	return a, err
}

// Value implements search.Reporter.
func (b *borrower) Value() float32 { return b.value }
