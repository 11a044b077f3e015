package search

import "blockyard/env"

// A level is the memory for one ply of a search: the legal actions of one seat in one position, the positions they lead
// to (children) and their values. A child is live if its game is not finished. The memory grows and never shrinks.
type level struct {
	game  *env.Game
	legal []env.Action // ascending
	value []float32    // value[i] belongs to legal[i]
	slot  []int        // legal[slot[k]] led to states[k]
	live  int          // the live children are states[:live]

	states []env.State
	out    []float32 // out[k] is what the evaluator said of states[k]
	order  []int     // indices of the live children in search order; see arrange
	risky  []bool    // risky[k] is what the guard said of states[k]
	rest   []int     // indices of the actions that an evaluator of leaves has left out
}

// open expands s at the root of a search and evaluates the children.
func (l *level) open(e Evaluator, s env.State, seat int) error {
	l.expand(s, seat, 1)
	if len(l.legal) == 0 {
		return stuck(seat)
	}
	l.evaluate(e, seat)
	return nil
}

// expand makes the children of s, ply plies from the root, values finished ones, and forces the draws of s.
func (l *level) expand(s env.State, seat, ply int) {
	l.list(s, seat)
	l.live = 0
	for i := range l.legal {
		l.child(i, s, seat, ply)
	}
}

// list sets the legal actions and makes room for their values. It forces the draws of s.
func (l *level) list(s env.State, seat int) {
	s.Force(zeros[:])
	l.legal = s.Legal(seat, l.legal[:0])
	for len(l.value) < len(l.legal) {
		l.value = append(l.value, 0)
		l.slot = append(l.slot, 0)
		l.out = append(l.out, 0)
	}
}

// child makes the child of s by action i: the next live one or, if its game is finished, only a value.
func (l *level) child(i int, s env.State, seat, ply int) {
	child := l.next()
	child.CopyFrom(s)
	env.After(child, seat, l.legal[i])
	if v, ended := Over(child, seat, ply); ended {
		l.value[i] = v
		return
	}
	l.slot[l.live] = i
	l.live++
}

// next returns a position to overwrite: the one after the live children.
func (l *level) next() env.State {
	if l.live == len(l.states) {
		l.states = append(l.states, l.game.New(l.game.MinSeats))
	}
	return l.states[l.live]
}

func (l *level) evaluate(e Evaluator, seat int) {
	if l.live == 0 {
		return
	}
	e.Evaluate(l.states[:l.live], seat, l.out[:l.live])
	for k, v := range l.out[:l.live] {
		l.value[l.slot[k]] = v
	}
}

// arrange sets order, ascending or, if byValue is set, the best first according to the evaluator, equal ones ascending.
func (l *level) arrange(byValue bool) {
	order := l.order[:0]
	for k := 0; k < l.live; k++ {
		order = append(order, k)
		for j := k; byValue && j > 0 && l.out[k] > l.out[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], k
		}
	}
	l.order = order
}

// top returns the value of the best action, ply plies from the root; a seat without one has lost.
func (l *level) top(ply int) float32 {
	if len(l.legal) == 0 {
		return -Win + float32(ply)
	}
	return l.value[l.best()]
}

// best returns the index of the first action with the greatest value. There is one at least.
func (l *level) best() int {
	at := 0
	for i := range l.legal {
		if better(l.value[i], l.value[at]) {
			at = i
		}
	}
	return at
}

// A LeafEvaluator is an Evaluator that can also value the positions that actions lead to without making them. The last
// ply of a search needs nothing but their values.
type LeafEvaluator interface {
	Evaluator
	// EvaluateLeaves writes to out[i] the value for seat of the position that its action legal[i] in s leads to, the
	// same bits as Evaluate. It appends to rest the indices of actions that it leaves out, in ascending order: those
	// that end the game, and any others. The draws of s are forced to be 0. len(out) ≥ len(legal). EvaluateLeaves
	// must not change or keep s.
	EvaluateLeaves(s env.State, seat int, legal []env.Action, out []float32, rest []int) []int
}

// leaves is expand and evaluate for positions that no search goes on from: only those that e leaves out are made.
func (l *level) leaves(e Evaluator, s env.State, seat, ply int) {
	if direct {
		if d, ok := e.(LeafEvaluator); ok {
			l.list(s, seat)
			l.rest = d.EvaluateLeaves(s, seat, l.legal, l.value, l.rest[:0])
			l.live = 0
			for _, i := range l.rest {
				l.child(i, s, seat, ply)
			}
			l.evaluate(e, seat)
			return
		}
	}
	l.expand(s, seat, ply)
	l.evaluate(e, seat)
}

// A Guard knows which actions may lose to what others do in the same step, which a search of own actions misses.
type Guard interface {
	// Risky sets out[i] if seat may have lost in children[i], the positions that its actions in s lead to, after what
	// the other seats can do in s. len(out) == len(children) ≥ 1. Risky must not change or keep the positions.
	Risky(s env.State, seat int, children []env.State, out []bool)
}

// exclude takes the live children that are risky out of the search, unless all are. It reports whether there are any.
func (l *level) exclude(g Guard, s env.State, seat int) bool {
	if g == nil || l.live == 0 {
		return false
	}
	for len(l.risky) < l.live {
		l.risky = append(l.risky, false)
	}
	risky := l.risky[:l.live]
	for k := range risky {
		risky[k] = false
	}
	g.Risky(s, seat, l.states[:l.live], risky)
	kept := 0
	for k, r := range risky {
		if r {
			continue
		}
		l.states[kept], l.states[k] = l.states[k], l.states[kept]
		risky[kept], risky[k] = risky[k], risky[kept]
		l.slot[kept], l.slot[k] = l.slot[k], l.slot[kept]
		kept++
	}
	if kept == 0 || kept == l.live {
		return false
	}
	for k := kept; k < l.live; k++ {
		l.value[l.slot[k]] = -Win // excluded
	}
	l.live = kept
	return true
}
