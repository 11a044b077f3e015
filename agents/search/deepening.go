package search

import (
	"context"

	"blockyard/env"
)

// Deepening is an agent that searches three, four and five of its own actions ahead, each time the first actions in the
// order of the depth before, until it has evaluated a number of positions or the time is up. Between two actions it
// averages over the draws, as Expectimax does. With a number of positions alone it is deterministic.
//
// It plays the best of the first actions that it has searched to the current depth, or the best of the depth before if
// there is none.
type Deepening struct {
	reported
	eval     Evaluator
	two      TwoPly
	outcomes int
	nodes    int // positions to evaluate; 0 for no limit but the time
	last     int // plies of the greatest depth
	limit    int // plies of the current depth
	left     int // positions to evaluate, if nodes is above 0
	clock    Clock
	cut      bool
	mix      int         // tells draws of one ply apart if not all are searched
	ply      []level     // ply[d] has the actions after d actions
	mid      []env.State // mid[d] is the position after d+1 actions
	draw     [env.MaxDraws]uint16
}

// deepest is the greatest depth, and deepWidth how many actions it searches, but for the last two of a depth.
const deepest = 5

var deepWidth = [deepest]int{6, 3, 3}

// NewDeepening returns a Deepening for g with the evaluator e that averages over draws 0 to outcomes-1, outcomes ≥ 1.
func NewDeepening(g *env.Game, e Evaluator, nodes, outcomes int) *Deepening {
	x := &Deepening{eval: e, two: *NewTwoPly(g, e), nodes: nodes, outcomes: outcomes}
	x.last, x.ply = deepest, make([]level, deepest)
	for i := range x.ply {
		x.ply[i].game = g
		x.mid = append(x.mid, g.New(g.MinSeats))
	}
	return x
}

// SetGuard is that of TwoPly, which searches the first two plies.
func (x *Deepening) SetGuard(g Guard) { x.two.SetGuard(g) }

// Act implements env.Agent. It deepens the search until the deadline of ctx or its limit of evaluations, and returns
// the best action so far.
func (x *Deepening) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	x.clock, x.cut, x.left = NewClock(ctx), false, x.nodes
	root := &x.two.root
	at, err := x.two.search(&x.clock, s, seat)
	if err != nil {
		return env.None, err
	}
	x.value = root.value[at]
	if x.value < -Limit || x.value > Limit {
		return root.legal[at], nil // two plies decide the game
	}
	root.rank()
	for x.limit = 3; x.limit <= x.last; x.limit++ {
		done := 0
		for n, k := range root.order {
			i := root.slot[k]
			if n == deepWidth[0] || root.value[i] < -Limit {
				break
			}
			v := x.mean(s, seat, root.legal[i], 0)
			if x.cut {
				break
			}
			if root.value[i] = v; n == 0 || better(v, x.value) {
				at, x.value = i, v
			}
			done++
		}
		if x.cut {
			break
		}
		root.order = root.order[:done]
		root.rank()
	}
	return root.legal[at], nil
}

// spend counts evaluations and sets cut if no more may follow.
func (x *Deepening) spend(n int) {
	x.left -= n
	x.cut = x.cut || x.nodes > 0 && x.left <= 0 || x.clock.Spend(n)
}

// mean returns the value of the action a in s, the position after d actions, as the mean over the draws. The first two
// actions of a search are averaged over all draws, later ones over one each, another one for each draw before.
func (x *Deepening) mean(s env.State, seat int, a env.Action, d int) float32 {
	first, last, mix := 0, x.outcomes, x.mix
	if d > 1 {
		first = mix % x.outcomes
		last = first + 1
	}
	var sum float32
	mid := x.mid[d]
	for o := first; o < last && !x.cut; o++ {
		x.mix = 3*mix + o + 1
		x.draw[0] = uint16(o)
		mid.CopyFrom(s)
		mid.Force(x.draw[:])
		env.After(mid, seat, a)
		sum += x.best(mid, seat, d+1)
	}
	x.mix = mix
	return sum / float32(last-first)
}

// best returns the value of the best action in s, the position after d actions.
func (x *Deepening) best(s env.State, seat, d int) float32 {
	if v, ended := Over(s, seat, d); ended {
		return v
	}
	l := &x.ply[d]
	if d == x.limit-1 {
		l.leaves(x.eval, s, seat, d+1)
		x.spend(len(l.legal))
		return l.top(d + 1)
	}
	l.expand(s, seat, d+1)
	if len(l.legal) == 0 {
		return -Win + float32(d+1)
	}
	l.evaluate(x.eval, seat)
	x.spend(l.live)
	l.arrange(true)
	best, width := l.finished(), tailWidth
	if d < x.limit-2 {
		width = deepWidth[d]
	}
	for n, k := range l.order {
		if n == width || x.cut {
			break
		}
		var v float32
		if d < x.limit-2 {
			v = x.mean(s, seat, l.legal[l.slot[k]], d)
		} else {
			v = x.best(l.states[k], seat, d+1) // the draw in between is not placed within the depth
		}
		if better(v, best) {
			best = v
		}
	}
	return best
}
