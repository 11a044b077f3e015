package search

import (
	"context"
	"fmt"

	"blockyard/env"
)

// Two is an agent that looks at every pair of own choices, this and the next, and plays
// the first of the pair whose final position is worth most. It is for games in which
// seats move at once or alone, where a seat's afterstate is its next decision.
//
// Out of time, it plays the best of the first choices whose second it has seen, and looks
// at those first that one ply thinks best.
type Two struct {
	eval  Evaluator
	root  level
	leaf  level
	order []int // live children of the root, in the order to look at them
	few   int   // how many of them to look at, those that one ply thinks best; 0 for all
	lines lines // the best pairs, for those who go on from there
	value float32
}

// NewTwo returns a Two for g that judges with e.
func NewTwo(g *env.Game, e Evaluator) *Two {
	return &Two{eval: e, root: level{game: g}, leaf: level{game: g}}
}

// Act implements env.Agent.
func (t *Two) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	c := newClock(ctx)
	i, err := t.look(&c, s, seat)
	if err != nil {
		return env.None, err
	}
	t.value = t.root.worth[i]
	return t.root.legal[i], nil
}

// Value implements Reporter.
func (t *Two) Value() float32 { return t.value }

// look gives every first choice the worth of its best second and returns the best one.
func (t *Two) look(c *clock, s env.State, seat int) (int, error) {
	t.root.open(s, seat, 1)
	if len(t.root.legal) == 0 {
		return 0, stuck(seat)
	}
	t.lines.clear()
	ranked := c.timed || t.few > 0
	if ranked {
		t.root.judge(t.eval, seat)
	}
	t.order = t.root.arrange(t.order, ranked)
	for seen, k := range t.order {
		i := t.root.slot[k]
		if seen > 0 && (c.up() || t.few > 0 && seen >= t.few) {
			t.root.worth[i] = -Win // never looked at: out of the choice
			continue
		}
		if !t.root.states[k].Acting().Has(seat) {
			return 0, fmt.Errorf("%s: seats take turns: seat %d has no second choice to look at", t.root.game.Name, seat)
		}
		t.root.worth[i] = t.second(i, t.root.states[k], seat)
	}
	return t.root.best(), nil
}

// second returns the worth of the best choice in child, which first choice i led to.
func (t *Two) second(i int, child env.State, seat int) float32 {
	t.leaf.open(child, seat, 2)
	t.leaf.judge(t.eval, seat)
	for j, b := range t.leaf.legal {
		t.lines.offer(line{i, b, t.leaf.worth[j]})
	}
	return t.leaf.top(2)
}
