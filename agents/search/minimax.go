package search

import (
	"context"
	"math"

	"blockyard/env"
)

// Minimax is an agent for positions of two seats that take turns. It looks several plies ahead, its own and the
// opponent's. At every level it goes on from the actions that are best at one ply, at most width of them, and cuts off
// what cannot change the result (alpha-beta). The value for one seat is taken to be minus the value for the other. A
// seat may have several turns in a row while the other one passes. If more than two play, Minimax is a Reply.
//
// With a deadline, it deepens iteratively: two plies, then three, and so on, each time in the order of the previous
// values. When the time is up, it plays the best of the actions that it has searched to the current depth, or the
// best of the previous depth if there is none. Such a search is quick if it may look further than exactPly: it is
// narrower the deeper it looks, and goes on from a position only if no action that was best elsewhere is good enough.
//
// It keeps what it has found out about positions from one choice to the next. Unless it is quick, this only saves time.
type Minimax struct {
	reported
	eval  Evaluator
	width int
	many  many // for more than two seats
	ply   []node
	limit int // levels in use
	clock Clock
	cut   bool // the time was up before the current root action was searched completely
	quick bool
	table table
}

// many is a *Reply. A program for two seats does without its code.
type many interface {
	env.Agent
	Reporter
}

// exactPly is the greatest number of plies to which a search with a deadline is the one without, given the time.
const exactPly = 6

// NewMinimax returns a Minimax of ply plies for g with the evaluator e, 1 ≤ ply ≤ MaxPly, width ≥ 1.
func NewMinimax(g *env.Game, e Evaluator, ply, width int) *Minimax {
	m := NewTwoSeats(g, e, ply, width)
	if g.MaxSeats > 2 {
		m.many = NewReply(g, e, width)
	}
	return m
}

// NewTwoSeats is NewMinimax for games of two seats.
func NewTwoSeats(g *env.Game, e Evaluator, ply, width int) *Minimax {
	m := &Minimax{eval: e, width: width, ply: make([]node, ply)}
	for i := range m.ply {
		m.ply[i].game = g
	}
	if _, ok := g.New(g.MinSeats).(env.Hasher); ok && ply > 2 {
		m.table.entries = make([]entry, tableLen)
		for i := range m.table.entries {
			m.table.entries[i].first = env.None
		}
	}
	return m
}

// Act implements env.Agent. With a deadline in ctx it deepens the search step by step, and otherwise searches to its
// full depth.
func (m *Minimax) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if m.many != nil && s.SeatCount() > 2 {
		a, err := m.many.Act(ctx, s, seat)
		m.value = m.many.Value()
		return a, err
	}
	m.clock, m.cut = NewClock(ctx), false
	m.quick = m.clock.timed && len(m.ply) > exactPly
	l := &m.ply[0].level
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
	m.table.stamp++
	l := &m.ply[0].level
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
		v := m.scout(l.states[k], seat, 1, math.Nextafter32(alpha, -3*Win), 2*Win, n > 0)
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

// scout is after, but if there is a first action already, it finds out first whether s is better at all.
func (m *Minimax) scout(s env.State, seat, d int, alpha, beta float32, first bool) float32 {
	if first {
		v := m.after(s, seat, d, alpha, math.Nextafter32(alpha, 3*Win))
		if v <= alpha || v >= beta || m.cut {
			return v
		}
	}
	return m.after(s, seat, d, alpha, beta)
}

// after returns the value of s, d plies from the root, for seat, which has just acted. A value outside of alpha to
// beta is only a bound.
func (m *Minimax) after(s env.State, seat, d int, alpha, beta float32) float32 {
	mover := s.Acting().First()
	if mover == seat { // the other seat passed
		return m.search(s, mover, d, alpha, beta)
	}
	return -m.search(s, mover, d, -beta, -alpha)
}

// search returns the value of s, d plies from the root, for the seat to move.
func (m *Minimax) search(s env.State, mover, d int, alpha, beta float32) float32 {
	n, key := &m.ply[d], m.table.key(s)
	n.own = entry{first: env.None}
	e := m.table.at(key, &n.own)
	if v, known := e.known(m.table.stamp, d, alpha, beta); known {
		return v
	}
	s.Force(zeros[:])
	v, a := float32(0), env.None
	if d+1 == m.limit {
		v, a = m.frontier(n, e, s, mover, d, beta)
	} else {
		v, a = m.descend(n, e, s, mover, d, alpha, beta)
	}
	if !m.cut {
		m.table.at(key, &n.own).set(m.table.stamp, d, v, alpha, beta, a)
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

func (l *level) drop(n int) {
	for _, k := range l.order[n:] {
		l.value[l.slot[k]] = -2 * Win
	}
}

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

// Act implements env.Agent. At the deadline of ctx, it excludes actions whose replies it has not searched.
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
	if v, ended := Over(end, seat, 2); ended {
		return v
	}
	r.eval.Evaluate(l.states[:1], seat, r.out[:])
	return r.out[0]
}
