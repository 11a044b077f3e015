package search

import (
	"context"
	"fmt"

	"blockyard/env"
)

// TwoPly is an agent that evaluates every pair of its own next two actions and plays the first action of the best
// pair. It is for games in which seats act at once or alone, so that the afterstate of a seat is its next decision.
//
// With a deadline, it searches first the actions that are best at one ply. When the time is up, it plays the best of
// those whose second actions it has evaluated.
type TwoPly struct {
	reported
	eval  Evaluator
	root  level
	leaf  level
	guard Guard // of the first actions; may be nil
	width int   // how many of them to search, the best at one ply; 0 for all
	pairs bestPairs
}

// NewTwoPly returns a two-ply search of games of g by the evaluator e, which it takes over.
func NewTwoPly(g *env.Game, e Evaluator) *TwoPly {
	return &TwoPly{eval: e, root: level{game: g}, leaf: level{game: g}}
}

// SetGuard excludes first actions that g calls risky, unless all are or what is left loses.
func (t *TwoPly) SetGuard(g Guard) { t.guard = g }

// Act implements env.Agent. At the deadline of ctx, actions whose second ply was not searched are left out.
func (t *TwoPly) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	c := NewClock(ctx)
	i, err := t.search(&c, s, seat)
	if err != nil {
		return env.None, err
	}
	t.value = t.root.value[i]
	return t.root.legal[i], nil
}

// search gives every first action the value of its best second action and returns the index of the best one.
func (t *TwoPly) search(c *Clock, s env.State, seat int) (int, error) {
	t.root.expand(s, seat, 1)
	if len(t.root.legal) == 0 {
		return 0, stuck(seat)
	}
	excluded := t.root.exclude(t.guard, s, seat)
	at, err := t.pick(c, seat)
	if excluded && t.root.value[at] < -Limit { // certain to lose: a risk is better
		t.root.expand(s, seat, 1)
		return t.pick(c, seat)
	}
	return at, err
}

// pick is search among the children that the root has.
func (t *TwoPly) pick(c *Clock, seat int) (int, error) {
	t.pairs.list = t.pairs.list[:0]
	ranked := c.timed || t.width > 0
	if ranked {
		t.root.evaluate(t.eval, seat)
	}
	t.root.arrange(ranked)
	for n, k := range t.root.order {
		i := t.root.slot[k]
		if n > 0 && (c.Up() || t.width > 0 && n >= t.width) {
			t.root.value[i] = -Win // not searched: excluded
			continue
		}
		if !t.root.states[k].Acting().Has(seat) {
			return 0, fmt.Errorf("%s: seats take turns: seat %d has no second action; use another search",
				t.root.game.Name, seat)
		}
		t.root.value[i] = t.second(i, t.root.states[k], seat)
	}
	return t.root.best(), nil
}

// second returns the value of the best action in child, the position after first action i.
func (t *TwoPly) second(i int, child env.State, seat int) float32 {
	t.leaf.leaves(t.eval, child, seat, 2)
	if t.pairs.width > 0 {
		for j, b := range t.leaf.legal {
			t.pairs.offer(pair{i, b, t.leaf.value[j]})
		}
	}
	return t.leaf.top(2)
}

// A pair is two own actions in a row and the value of the position they lead to.
type pair struct {
	first  int // index of the first action in the root's list
	second env.Action
	value  float32
}

// ahead reports whether p is better than q; actions break ties.
func (p pair) ahead(q pair) bool {
	if p.value != q.value {
		return better(p.value, q.value)
	}
	return p.first < q.first || p.first == q.first && p.second < q.second
}

// bestPairs keeps the best pairs that were offered, at most width, the best first. The zero value keeps none.
type bestPairs struct {
	width int
	list  []pair
}

func (b *bestPairs) offer(p pair) {
	if len(b.list) < b.width {
		b.list = append(b.list, p)
	} else if b.width == 0 || !p.ahead(b.list[b.width-1]) {
		return
	} else {
		b.list[b.width-1] = p
	}
	for j := len(b.list) - 1; j > 0 && p.ahead(b.list[j-1]); j-- {
		b.list[j], b.list[j-1] = b.list[j-1], p
	}
}

// leads reports whether pair k is the best of those with the same first action.
func (b *bestPairs) leads(k int) bool {
	for _, p := range b.list[:k] {
		if p.first == b.list[k].first {
			return false
		}
	}
	return true
}
