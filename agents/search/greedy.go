package search

import (
	"context"

	"blockyard/env"
)

// Greedy is an agent that plays the action whose afterstate is worth most.
type Greedy struct {
	eval  Evaluator
	root  level
	value float32
}

// NewGreedy returns a Greedy for g that judges with e.
func NewGreedy(g *env.Game, e Evaluator) *Greedy {
	return &Greedy{eval: e, root: level{game: g}}
}

// Act implements env.Agent. It is one call of the evaluator, whatever the deadline.
func (g *Greedy) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	g.root.open(s, seat, 1)
	if len(g.root.legal) == 0 {
		return env.None, stuck(seat)
	}
	g.root.judge(g.eval, seat)
	i := g.root.best()
	g.value = g.root.worth[i]
	return g.root.legal[i], nil
}

// Value implements Reporter.
func (g *Greedy) Value() float32 { return g.value }
