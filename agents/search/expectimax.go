package search

import (
	"context"

	"blockyard/env"
)

// Expectimax is an agent that searches three or four of its own actions ahead. TwoPly finds the best pairs of actions.
// For each of them and each value of the draw after the first action, all equally likely, Expectimax searches every
// third action. The value of a first action is the mean, over the draws, of its best pair. This is exact for games in
// which the first draw of an afterstate is the piece that the seat places two actions later and changes nothing before.
//
// With a fourth ply, it also averages over the draw after the second action. It then knows both draws, as it will in
// play, and searches the fourth action after each of the few third actions that are best at one ply.
//
// When the time is up, it plays the best of the first actions that it has searched completely; the first of them is
// the one that TwoPly would play.
type Expectimax struct {
	reported
	two      TwoPly
	deep     level
	tail     *TwoPly // of the third and fourth action; nil without a fourth ply
	outcomes int
	clock    Clock
	cut      bool                    // the time was up before the current first action was searched completely
	mid, end env.State               // after the first and the second action
	draw     [2][env.MaxDraws]uint16 // after the first and the second action; only [0] differs from 0
}

const tailWidth = 4 // the number of third actions after which the fourth is searched

// NewExpectimax returns one of three plies: from the best width ≥ 1 pairs, over draws 0 to outcomes-1, outcomes ≥ 1.
func NewExpectimax(g *env.Game, e Evaluator, width, outcomes int) *Expectimax {
	x := &Expectimax{
		two:  *NewTwoPly(g, e),
		deep: level{game: g}, outcomes: outcomes,
		mid: g.New(g.MinSeats), end: g.New(g.MinSeats),
	}
	x.two.pairs.width = width
	return x
}

// NewExpectimax4 returns an Expectimax that looks two more plies ahead: a TwoPly values the positions after each
// outcome.
func NewExpectimax4(g *env.Game, e Evaluator, width, outcomes int) *Expectimax {
	x := NewExpectimax(g, e, width, outcomes)
	x.tail = NewTwoPly(g, e)
	x.tail.width = tailWidth
	return x
}

// SetGuard is that of TwoPly, which finds the pairs.
func (x *Expectimax) SetGuard(g Guard) { x.two.SetGuard(g) }

// Act implements env.Agent. At the deadline of ctx it returns the best action so far.
func (x *Expectimax) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	x.clock, x.cut = NewClock(ctx), false
	root := &x.two.root
	at, err := x.two.search(&x.clock, s, seat)
	if err != nil {
		return env.None, err
	}
	x.value = root.value[at]
	if x.value < -Limit || x.value > Limit {
		return root.legal[at], nil // two plies decide the game
	}
	for k, p := range x.two.pairs.list {
		if !x.two.pairs.leads(k) {
			continue
		}
		v := x.mean(s, seat, p.first)
		if x.cut {
			break
		}
		if k == 0 || better(v, x.value) || v == x.value && p.first < at {
			at, x.value = p.first, v
		}
	}
	return root.legal[at], nil
}

// mean returns the value of first action i as the mean over all draws. It sets cut if the time is up before that.
func (x *Expectimax) mean(s env.State, seat, i int) float32 {
	var sum float32
	for o := 0; o < x.outcomes; o++ {
		if x.cut = x.cut || x.clock.Up(); x.cut {
			return 0
		}
		x.draw[0][0] = uint16(o)
		x.mid.CopyFrom(s)
		x.mid.Force(x.draw[0][:])
		env.After(x.mid, seat, x.two.root.legal[i])
		sum += x.second(seat, i)
	}
	return sum / float32(x.outcomes)
}

// second returns the value of the best pair with first action i, from mid, the position after that action.
func (x *Expectimax) second(seat, i int) float32 {
	if v, ended := Over(x.mid, seat, 1); ended {
		return v
	}
	best := -2 * Win
	for _, p := range x.two.pairs.list {
		if p.first != i {
			continue
		}
		if x.cut {
			break
		}
		if v := x.after(seat, p.second); better(v, best) {
			best = v
		}
	}
	return best
}

// after returns the value of a second action in mid: with a fourth ply, the mean over all draws.
func (x *Expectimax) after(seat int, second env.Action) float32 {
	draws := 1
	if x.tail != nil {
		draws = x.outcomes
	}
	var sum float32
	for o := 0; o < draws; o++ {
		x.draw[1][0] = uint16(o)
		x.mid.Force(x.draw[1][:])
		x.end.CopyFrom(x.mid)
		env.After(x.end, seat, second)
		v, ended := Over(x.end, seat, 2)
		switch {
		case ended:
		case x.tail != nil:
			v = x.pair(seat)
		default:
			x.deep.leaves(x.two.eval, x.end, seat, 3)
			v = x.deep.top(3)
			x.cut = x.clock.Spend(len(x.deep.legal))
		}
		if x.cut {
			return 0
		}
		sum += v
	}
	return sum / float32(draws)
}

// pair returns the value of the best third and fourth action in end.
func (x *Expectimax) pair(seat int) float32 {
	i, err := x.tail.search(&x.clock, x.end, seat)
	if x.cut = x.clock.Up(); x.cut {
		return 0 // the search may not be complete
	}
	if err != nil {
		return -Win + 3 // the seat must act and cannot
	}
	switch v := x.tail.root.value[i]; {
	case v > Limit:
		return v - 2 // tail counts its plies from end, two plies from the root
	case v < -Limit:
		return v + 2
	default:
		return v
	}
}
