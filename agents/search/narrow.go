package search

import (
	"context"

	"blockyard/env"
)

// Narrow is an agent that goes on from the best pairs of own choices that Two finds: for
// each thing that may be drawn after the first choice, all equally likely, it looks at
// every third choice. A first choice is worth the mean over the draws of the best that
// its pairs lead to. It is for games in which the first draw of an afterstate is what
// the seat will place at its third choice, and does not change what may be done at the
// second.
//
// Out of time it plays the best of the first choices it has gone on with to the end, the
// one that Two would play being the first of them.
type Narrow struct {
	two      Two
	deep     level
	outcomes int
	mid, end env.State
	draws    [env.MaxDraws]uint16 // 0 but for the first
	value    float32
}

// NewNarrow returns a Narrow for g that judges with e and goes on with the best width
// pairs, width ≥ 1, each with draws 0 to outcomes-1, outcomes ≥ 1.
func NewNarrow(g *env.Game, e Evaluator, width, outcomes int) *Narrow {
	return &Narrow{
		two: Two{
			eval: e, root: level{game: g}, leaf: level{game: g},
			lines: lines{width: width},
		},
		deep:     level{game: g},
		outcomes: outcomes,
		mid:      g.New(g.MinSeats),
		end:      g.New(g.MinSeats),
	}
}

// Act implements env.Agent.
func (n *Narrow) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	c := newClock(ctx)
	root := &n.two.root
	at, err := n.two.look(&c, s, seat)
	if err != nil {
		return env.None, err
	}
	n.value = root.worth[at]
	if n.value < -Limit || n.value > Limit {
		return root.legal[at], nil // the end is in sight
	}
	for k, l := range n.two.lines.best {
		if !n.two.lines.leads(k) {
			continue
		}
		if k > 0 && c.up() {
			break
		}
		v := n.mean(s, seat, l.first)
		if k == 0 || better(v, n.value) || v == n.value && l.first < at {
			at, n.value = l.first, v
		}
	}
	return root.legal[at], nil
}

// Value implements Reporter.
func (n *Narrow) Value() float32 { return n.value }

// mean returns what first choice i is worth over all draws.
func (n *Narrow) mean(s env.State, seat, i int) float32 {
	var sum float32
	for o := 0; o < n.outcomes; o++ {
		n.draws[0] = uint16(o)
		n.mid.CopyFrom(s)
		n.mid.Force(n.draws[:])
		n.mid.After(seat, n.two.root.legal[i])
		sum += n.third(seat, i)
	}
	return sum / float32(n.outcomes)
}

// third returns the worth of the best that the pairs of first choice i lead to, from
// mid, the position after it.
func (n *Narrow) third(seat, i int) float32 {
	if v, ended := over(n.mid, seat, 1); ended {
		return v
	}
	n.mid.Force(zeros[:])
	best := -2 * Win
	for _, l := range n.two.lines.best {
		if l.first != i {
			continue
		}
		n.end.CopyFrom(n.mid)
		n.end.After(seat, l.second)
		v, ended := over(n.end, seat, 2)
		if !ended {
			n.deep.open(n.end, seat, 3)
			n.deep.judge(n.two.eval, seat)
			v = n.deep.top(3)
		}
		if better(v, best) {
			best = v
		}
	}
	return best
}
