package search

import (
	"context"

	"blockyard/env"
)

// Greedy is an agent that plays the action with the best afterstate.
type Greedy struct {
	reported
	eval Evaluator
	root level
}

// NewGreedy returns a Greedy for g with the evaluator e.
func NewGreedy(g *env.Game, e Evaluator) *Greedy {
	return &Greedy{eval: e, root: level{game: g}}
}

// Act implements env.Agent. It calls the evaluator once and ignores the deadline.
func (g *Greedy) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if err := g.root.open(g.eval, s, seat); err != nil {
		return env.None, err
	}
	i := g.root.best()
	g.value = g.root.value[i]
	return g.root.legal[i], nil
}
