package search

import (
	"math"

	"blockyard/env"
)

// A node is the memory of a Minimax for one ply: a level of which only some children exist at a time.
type node struct {
	level
	own  entry        // of the current position, if there is no table
	todo []choice     // the actions to go on from
	best []env.Action // those that were best in other positions of this ply, the latest first

	end      env.Action // the best action that ends the game, or env.None
	endValue float32
}

// A choice is an action and its value at one ply.
type choice struct {
	action env.Action
	value  float32
}

const bests = 8 // how many actions that were best in other positions a node keeps

// frontier returns the best action of the seat to move, d plies from the root, at one ply, and its value. A value of
// beta or more is only a bound. Actions that were best elsewhere come first, in small groups.
func (m *Minimax) frontier(n *node, e *entry, s env.State, mover, d int, beta float32) (float32, env.Action) {
	n.open(s, mover)
	if len(n.legal) == 0 {
		return -Win + float32(d+1), env.None
	}
	best, at, size, all := -2*Win, env.None, 2, len(n.legal)
	if e.listed > 0 { // the best is known
		size = n.front(0, e.list[0])
		all = n.front(size, e.end)
	} else {
		k := n.front(0, e.first)
		for _, a := range n.best {
			k = n.front(k, a)
		}
	}
	for from := 0; from < all; size *= 2 {
		to := min(from+size, all)
		i := n.some(m.eval, s, mover, d+1, from, to, m.width)
		if better(n.value[i], best) {
			best, at = n.value[i], n.legal[i]
		}
		if from = to; best >= beta {
			n.keep(at)
			if from < len(n.legal) {
				return best, at
			}
		}
	}
	if e.listed == 0 {
		e.store(n, m.width)
	}
	return best, at
}

// descend searches the actions of the seat to move, d plies from the root, and returns the best and its value. Actions
// beyond width are excluded, but for those of refute in a quick search.
func (m *Minimax) descend(
	n *node, e *entry, s env.State, mover, d int, alpha, beta float32,
) (best float32, at env.Action) {
	first := e.first
	if e.listed > 0 {
		n.todo, n.end = n.todo[:0], e.end
		for _, a := range e.list[:e.listed] {
			n.todo = append(n.todo, choice{action: a})
		}
	} else {
		n.open(s, mover)
		if len(n.legal) == 0 {
			return -Win + float32(d+1), env.None
		}
		if m.quick && alpha >= math.Nextafter32(beta, -3*Win) {
			if v, a := m.refute(n, first, s, mover, d, alpha, beta); v >= beta || m.cut {
				return v, a
			}
		}
		n.some(m.eval, s, mover, d+1, 0, len(n.legal), m.width)
		m.table.at(m.table.key(s), &n.own).store(n, m.width)
	}
	n.live = 0
	child := n.next()
	if best, at = -2*Win, n.end; at != env.None {
		child.CopyFrom(s)
		env.After(child, mover, at)
		best, _ = Over(child, mover, d+1)
	}
	todo := n.todo
	if w := m.wide(d); len(todo) > w {
		todo = todo[:w]
	}
	n.hurry(todo, first)
	for i := range todo {
		if best >= beta {
			break
		}
		if m.cut = m.cut || m.clock.Up(); m.cut {
			return best, at
		}
		if best > alpha {
			alpha = best
		}
		child.CopyFrom(s)
		env.After(child, mover, todo[i].action)
		if v := m.scout(child, mover, d+1, alpha, beta, i > 0); better(v, best) {
			best, at = v, todo[i].action
		}
	}
	if best >= beta {
		n.keep(at)
	}
	return best, at
}

// refute searches the action first and those that were best elsewhere, if they are legal, before any action is valued.
// It returns the first with a value of beta or more, and otherwise less than any value.
func (m *Minimax) refute(
	n *node, first env.Action, s env.State, mover, d int, alpha, beta float32,
) (float32, env.Action) {
	k := n.front(0, first)
	for _, a := range n.best {
		if k < tries {
			k = n.front(k, a)
		}
	}
	n.live = 0
	child := n.next()
	for i, a := range n.legal[:k] {
		if m.cut = m.cut || i > 0 && m.clock.Up(); m.cut {
			break
		}
		child.CopyFrom(s)
		env.After(child, mover, a)
		if child.Acting() == 0 {
			continue
		}
		if v := m.after(child, mover, d+1, alpha, beta); v >= beta && !m.cut {
			n.keep(a)
			return v, a
		}
	}
	return -2 * Win, env.None
}

const tries = 2 // how many actions refute searches

// wide is how many actions are searched d ≥ 1 plies from the root: fewer and fewer in a quick search.
func (m *Minimax) wide(d int) int {
	if w := narrow[d%MaxPly]; m.quick && w < m.width {
		return w
	}
	return m.width
}

var narrow = [MaxPly]int{12, 8, 8, 6, 6, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4}

// open lists the actions of seat in s, none of them valued.
func (n *node) open(s env.State, seat int) {
	n.list(s, seat)
	n.todo, n.end = n.todo[:0], env.None
}

// some sets the values of the actions from to to-1. It returns the index of the best of them.
func (n *node) some(e Evaluator, s env.State, seat, ply, from, to, width int) (best int) {
	n.live, n.rest = 0, n.rest[:0]
	valued := false
	if direct {
		if d, ok := e.(LeafEvaluator); ok {
			n.rest, valued = d.EvaluateLeaves(s, seat, n.legal[from:to], n.value[from:to], n.rest), true
		}
	}
	for i := from; i < to && !valued; i++ {
		n.rest = append(n.rest, i-from)
	}
	for _, i := range n.rest {
		n.child(from+i, s, seat, ply)
	}
	n.evaluate(e, seat)
	best = from
	k, r := 0, 0
	for i := from; i < to; i++ {
		if better(n.value[i], n.value[best]) {
			best = i
		}
		if r < len(n.rest) && n.rest[r] == i-from {
			if r++; k == n.live || n.slot[k] != i { // it ends the game
				if n.end == env.None || n.value[i] > n.endValue {
					n.end, n.endValue = n.legal[i], n.value[i]
				}
				continue
			}
			k++
		}
		n.insert(i, width)
	}
	return best
}

// insert puts action i among the best width ones, equal ones ascending.
func (n *node) insert(i, width int) {
	c, at := choice{n.legal[i], n.value[i]}, len(n.todo)
	for at > 0 && (c.value > n.todo[at-1].value || c.value == n.todo[at-1].value && c.action < n.todo[at-1].action) {
		at--
	}
	if at == width {
		return
	}
	if len(n.todo) < width {
		n.todo = append(n.todo, c)
	}
	copy(n.todo[at+1:], n.todo[at:])
	n.todo[at] = c
}

// front exchanges a, if it is among the actions from at on, with that at index at. It returns the index after that.
func (n *node) front(at int, a env.Action) int {
	for i := at; a != env.None && i < len(n.legal); i++ {
		if n.legal[i] == a {
			n.legal[i], n.legal[at] = n.legal[at], a
			return at + 1
		}
	}
	return at
}

// hurry puts first at the beginning of todo or, if it is not there, the latest of the best that is.
func (n *node) hurry(todo []choice, first env.Action) {
	if moved(todo, first) {
		return
	}
	for _, a := range n.best {
		if moved(todo, a) {
			return
		}
	}
}

// moved moves a to the beginning of todo, if it is there.
func moved(todo []choice, a env.Action) bool {
	for i, c := range todo {
		if c.action == a {
			copy(todo[1:], todo[:i])
			todo[0] = c
			return true
		}
	}
	return false
}

// keep puts a at the beginning of the best.
func (n *node) keep(a env.Action) {
	at := 0
	for at < len(n.best) && n.best[at] != a {
		at++
	}
	if at == len(n.best) {
		if at == bests {
			at--
		} else {
			n.best = append(n.best, a)
		}
	}
	copy(n.best[1:at+1], n.best[:at])
	n.best[0] = a
}
