package registry

import (
	"context"
	"sync"
	"time"

	"blockyard/agents/entry"
	"blockyard/agents/search"
	"blockyard/env"
)

// searchOf returns the search of a game: its own, or those of package search.
func searchOf(e *entry.Entry) *entry.Search {
	if e.Search != nil {
		return e.Search
	}
	return &entry.Search{
		Options: []entry.Option{{Name: "ply", Max: search.MaxPly}, {Name: "width", Max: 10000}, entry.Time},
		New: func(g *env.Game, j entry.Judge, o entry.Options) (env.Agent, error) {
			return search.New(g, j.(search.Evaluator),
				search.Options{Ply: o.Numbers["ply"], Width: o.Numbers["width"], Outcomes: e.Outcomes})
		},
	}
}

// searcher returns agents of a search. Unless the search is stateful, its agents share a pool.
func searcher(g *env.Game, s *entry.Search, judge maker, o entry.Options) (Factory, error) {
	create := func() (env.Agent, error) {
		j, err := judge()
		if err != nil {
			return nil, err
		}
		return s.New(g, j, o)
	}
	first, err := create() // so that bad options are found here
	if err != nil {
		return nil, err
	}
	if s.Stateful {
		return func(uint64) (env.Agent, error) { return create() }, nil
	}
	p := &pool{create: create, free: []env.Agent{first}}
	return func(uint64) (env.Agent, error) { return &pooledAgent{pool: p, limit: o.Time}, nil }, nil
}

// A pool holds searches that are not choosing at the moment. A search carries nothing over
// from one choice to the next, so that any will do: a thousand games need no more searches,
// each with its memory of positions, than the cores that play them.
type pool struct {
	create func() (env.Agent, error)
	mu     sync.Mutex
	free   []env.Agent
}

// take returns a free search, or a new one if there is none.
func (p *pool) take() (env.Agent, error) {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		a := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return a, nil
	}
	p.mu.Unlock()
	return p.create()
}

func (p *pool) put(a env.Agent) {
	p.mu.Lock()
	p.free = append(p.free, a)
	p.mu.Unlock()
}

// A pooledAgent takes a search from a pool for each choice.
type pooledAgent struct {
	pool  *pool
	limit time.Duration // for one choice; 0 for none
	value float32
}

// Act implements env.Agent.
func (a *pooledAgent) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	inner, err := a.pool.take()
	if err != nil {
		return env.None, err
	}
	defer a.pool.put(inner)
	if a.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.limit)
		defer cancel()
	}
	action, err := inner.Act(ctx, s, seat)
	if r, ok := inner.(search.Reporter); ok {
		a.value = r.Value()
	}
	return action, err
}

// Value implements search.Reporter.
func (a *pooledAgent) Value() float32 { return a.value }
