package search

import (
	"context"
	"math"

	"blockyard/env"
)

// Minimax is an agent for positions of two seats that take turns. It looks several plies ahead, its own and the
// opponent's. At every level it goes on from the actions that are best at one ply, at most width of them, and cuts
// off what cannot change the result (alpha-beta). The value for one seat is taken to be minus the value for the
// other. A seat may have several turns in a row while the other one passes. If more than two play, Minimax is a
// Reply.
//
// With a deadline, it deepens iteratively: two plies, then three, and so on, each time in the order of the previous
// values. When the time is up, it plays the best of the actions that it has searched to the current depth, or the
// best of the previous depth if there is none.
type Minimax struct {
	reported
	eval  Evaluator
	width int
	many  *Reply // for more than two seats
	ply   []level
	limit int // levels in use
	clock Clock
	cut   bool // the time was up before the current root action was searched completely
}

// NewMinimax returns a Minimax of ply plies for g with the evaluator e, ply ≥ 1, width ≥ 1.
func NewMinimax(g *env.Game, e Evaluator, ply, width int) *Minimax {
	m := &Minimax{eval: e, width: width, ply: make([]level, ply)}
	for i := range m.ply {
		m.ply[i].game = g
	}
	if g.MaxSeats > 2 {
		m.many = NewReply(g, e, width)
	}
	return m
}

// Act implements env.Agent.
func (m *Minimax) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if m.many != nil && s.SeatCount() > 2 {
		a, err := m.many.Act(ctx, s, seat)
		m.value = m.many.Value()
		return a, err
	}
	m.clock, m.cut = NewClock(ctx), false
	l := &m.ply[0]
	if err := l.open(m.eval, s, seat); err != nil {
		return env.None, err
	}
	l.arrange(true)
	i := l.best()
	m.limit = len(m.ply)
	if m.clock.timed && m.limit > 2 {
		m.limit = 2
	}
	for ; m.limit > 1 && m.limit <= len(m.ply); m.limit++ {
		searched := m.deepen(seat)
		if searched > 0 {
			i = l.best()
		}
		if searched < len(l.order) {
			break
		}
		l.rank()
	}
	m.value = l.value[i]
	return l.legal[i], nil
}

// deepen searches the root's actions limit plies deep and replaces their values. It returns the number of live
// children it has dealt with before the time was up: all of them if it was not, including those beyond width. If that
// is at least one, the others are excluded; if none, all values are as before.
func (m *Minimax) deepen(seat int) int {
	l := &m.ply[0]
	alpha := l.finished()
	for n, k := range l.order {
		if n >= m.width {
			l.drop(n)
			break
		}
		if n > 0 && m.clock.Up() {
			l.drop(n)
			return n
		}
		// The window begins just below alpha, so that an equal value is exact and not a bound.
		v := m.after(l.states[k], seat, 1, math.Nextafter32(alpha, -3*Win), 2*Win)
		if m.cut {
			if n > 0 {
				l.drop(n)
			}
			return n
		}
		l.value[l.slot[k]] = v
		if better(v, alpha) {
			alpha = v
		}
	}
	return len(l.order)
}

// descend searches the actions of seat at depth d, which are evaluated already, and returns the value of the best.
// Actions beyond width are excluded. A value outside of alpha to beta is only a bound.
func (m *Minimax) descend(seat, d int, alpha, beta float32) float32 {
	l := &m.ply[d]
	l.arrange(true)
	best := l.finished()
	for n, k := range l.order {
		if n >= m.width || best >= beta {
			break
		}
		if m.cut = m.cut || m.clock.Up(); m.cut {
			break
		}
		if best > alpha {
			alpha = best
		}
		if v := m.after(l.states[k], seat, d+1, alpha, beta); better(v, best) {
			best = v
		}
	}
	return best
}

// after returns the value of s, d plies from the root, for seat, which has just acted.
func (m *Minimax) after(s env.State, seat, d int, alpha, beta float32) float32 {
	mover := s.Acting().First()
	passed := mover == seat // the other seat passed
	if !passed {
		alpha, beta = -beta, -alpha
	}
	l := &m.ply[d]
	var v float32
	if d+1 == m.limit {
		l.leaves(m.eval, s, mover, d+1)
	} else {
		l.expand(s, mover, d+1)
		l.evaluate(m.eval, mover)
	}
	if d+1 == m.limit || len(l.legal) == 0 {
		v = l.top(d + 1)
	} else {
		v = m.descend(mover, d, alpha, beta)
	}
	if !passed {
		v = -v
	}
	return v
}

// finished returns the value of the best action that ends the game, or less than any value.
func (l *level) finished() float32 {
	best := -2 * Win
	k := 0
	for i := range l.legal { // the slots of the live children ascend
		if k < l.live && l.slot[k] == i {
			k++
		} else if better(l.value[i], best) {
			best = l.value[i]
		}
	}
	return best
}

// drop excludes the actions from order[n] on.
func (l *level) drop(n int) {
	for _, k := range l.order[n:] {
		l.value[l.slot[k]] = -2 * Win
	}
}

// rank sorts the live children by the values of their actions.
func (l *level) rank() {
	for n := range l.order {
		for j := n; j > 0 && l.value[l.slot[l.order[j]]] > l.value[l.slot[l.order[j-1]]]; j-- {
			l.order[j], l.order[j-1] = l.order[j-1], l.order[j]
		}
	}
}

// Reply is an agent for games in which seats take turns. It searches the best of its own actions at one ply. For each
// it finds the reply that is best for the next seat at one ply, and it plays the action after whose reply its own
// value is greatest.
//
// In a game of two whose evaluator is zero-sum this is minimax of two plies. With more seats, each is assumed to play
// for itself.
//
// When the time is up, it plays the best of the actions whose reply it has searched.
type Reply struct {
	reported
	eval  Evaluator
	width int
	root  level
	reply level
	out   [1]float32
}

// NewReply returns a Reply for g with the evaluator e. It searches the replies to the best width actions, width ≥ 1.
func NewReply(g *env.Game, e Evaluator, width int) *Reply {
	return &Reply{eval: e, width: width, root: level{game: g}, reply: level{game: g}}
}

// Act implements env.Agent.
func (r *Reply) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	c := NewClock(ctx)
	if err := r.root.open(r.eval, s, seat); err != nil {
		return env.None, err
	}
	r.root.arrange(true)
	for n, k := range r.root.order {
		i := r.root.slot[k]
		if n >= r.width || n > 0 && c.Up() {
			r.root.value[i] = -Win // not searched: excluded
			continue
		}
		r.root.value[i] = r.after(r.root.states[k], seat)
	}
	i := r.root.best()
	r.value = r.root.value[i]
	return r.root.legal[i], nil
}

// after returns the value of s for seat after the best reply of the seat to move.
func (r *Reply) after(s env.State, seat int) float32 {
	mover := s.Acting().First()
	l := &r.reply
	l.leaves(r.eval, s, mover, 2)
	if len(l.legal) == 0 {
		return Win - 2 // the mover must act and cannot: it has lost
	}
	// Finished children are not kept, so the child of the best reply is made again.
	a := l.legal[l.best()]
	l.live = 0
	end := l.next()
	end.CopyFrom(s)
	env.After(end, mover, a) // the draws of s are still forced
	if v, ended := over(end, seat, 2); ended {
		return v
	}
	r.eval.Evaluate(l.states[:1], seat, r.out[:])
	return r.out[0]
}
