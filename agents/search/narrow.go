package search

import (
	"context"

	"blockyard/env"
)

// Narrow is an agent that goes on from the best pairs of own choices that Two finds: for
// each thing that may be drawn after the first choice, all equally likely, it looks at
// every third choice. A first choice is worth the mean over the draws of the best that
// its pairs lead to. It is for games in which the first draw of an afterstate is what
// the seat will place two choices later, and does not change what may be done before.
//
// With a fourth ply it does the same for what may be drawn after the second choice, and
// makes the third and fourth choice as it will in play, with both draws known: the best
// fourth of the few third choices that one ply thinks best.
//
// Out of time it plays the best of the first choices it has gone on with to the end, the
// one that Two would play being the first of them.
type Narrow struct {
	two      Two
	deep     level
	beyond   *Two // of the third and the fourth choice; nil without a fourth ply
	outcomes int
	mid, end env.State
	draw     [2][env.MaxDraws]uint16 // after the first and the second choice; 0 but for the first number
	value    float32
}

// thirds is how many third choices a fourth ply goes on with.
const thirds = 4

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

// NewFourth returns a Narrow with a fourth ply.
func NewFourth(g *env.Game, e Evaluator, width, outcomes int) *Narrow {
	n := NewNarrow(g, e, width, outcomes)
	n.beyond = NewTwo(g, e)
	n.beyond.few = thirds
	return n
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
		v, done := n.mean(&c, s, seat, l.first)
		if !done {
			break
		}
		if k == 0 || better(v, n.value) || v == n.value && l.first < at {
			at, n.value = l.first, v
		}
	}
	return root.legal[at], nil
}

// Value implements Reporter.
func (n *Narrow) Value() float32 { return n.value }

// mean returns what first choice i is worth over all draws; done is false if the time is
// up before that.
func (n *Narrow) mean(c *clock, s env.State, seat, i int) (v float32, done bool) {
	var sum float32
	for o := 0; o < n.outcomes; o++ {
		if c.up() {
			return 0, false
		}
		n.draw[0][0] = uint16(o)
		n.mid.CopyFrom(s)
		n.mid.Force(n.draw[0][:])
		env.After(n.mid, seat, n.two.root.legal[i])
		sum += n.second(seat, i)
	}
	return sum / float32(n.outcomes), true
}

// second returns the worth of the best that the pairs of first choice i lead to, from
// mid, the position after it.
func (n *Narrow) second(seat, i int) float32 {
	if v, ended := over(n.mid, seat, 1); ended {
		return v
	}
	best := -2 * Win
	for _, l := range n.two.lines.best {
		if l.first != i {
			continue
		}
		if v := n.after(seat, l.second); better(v, best) {
			best = v
		}
	}
	return best
}

// after returns what a second choice in mid is worth: over all draws, where the fourth
// choice is looked at.
func (n *Narrow) after(seat int, second env.Action) float32 {
	draws := 1
	if n.beyond != nil {
		draws = n.outcomes
	}
	var sum float32
	for o := 0; o < draws; o++ {
		n.draw[1][0] = uint16(o)
		n.mid.Force(n.draw[1][:])
		n.end.CopyFrom(n.mid)
		env.After(n.end, seat, second)
		v, ended := over(n.end, seat, 2)
		switch {
		case ended:
		case n.beyond != nil:
			v = n.pair(seat)
		default:
			n.deep.open(n.end, seat, 3)
			n.deep.judge(n.two.eval, seat)
			v = n.deep.top(3)
		}
		sum += v
	}
	return sum / float32(draws)
}

// pair returns what the best third and fourth choice from end are worth.
func (n *Narrow) pair(seat int) float32 {
	i, err := n.beyond.look(&clock{}, n.end, seat)
	if err != nil {
		return -Win + 3 // it has to choose and cannot
	}
	switch v := n.beyond.root.worth[i]; {
	case v > Limit:
		return v - 2 // so many plies further than beyond counts
	case v < -Limit:
		return v + 2
	default:
		return v
	}
}
