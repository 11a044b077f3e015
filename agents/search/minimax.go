package search

import (
	"context"
	"math"

	"blockyard/env"
)

// Minimax is an agent for positions of two seats that take turns. It looks some choices ahead,
// its own and the opponent's, goes on with the best few at every level as one ply judges them,
// and leaves out lines that can no longer change the outcome (alpha-beta). The evaluator's
// worth for one seat is taken to be the other's loss. A seat may have several turns in a row,
// the other one passing. Where more than two play it is a Reply.
//
// With a deadline it looks two choices ahead first, then three, and so on, each time beginning
// with what was best before. Out of time, it plays the best of the choices it has looked at to
// the depth it was at, and if there is none, the best of the depth before.
type Minimax struct {
	eval  Evaluator
	width int
	many  *Reply // for more than two seats
	ply   []minimaxLevel
	limit int // levels in use
	clock clock
	cut   bool // the time ran out in the middle of a line
	value float32
}

// A minimaxLevel is a level and its children in the order they are looked at.
type minimaxLevel struct {
	level
	order []int
}

// NewMinimax returns a Minimax for g that judges with e and looks ply choices ahead,
// ply ≥ 1, going on with the best width of each position, width ≥ 1.
func NewMinimax(g *env.Game, e Evaluator, ply, width int) *Minimax {
	m := &Minimax{eval: e, width: width, ply: make([]minimaxLevel, ply)}
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
	m.clock, m.cut = newClock(ctx), false
	l := &m.ply[0]
	l.open(s, seat, 1)
	if len(l.legal) == 0 {
		return env.None, stuck(seat)
	}
	l.judge(m.eval, seat)
	l.order = l.arrange(l.order, true)
	i := l.best()
	m.limit = len(m.ply)
	if m.clock.timed && m.limit > 2 {
		m.limit = 2
	}
	for ; m.limit > 1 && m.limit <= len(m.ply); m.limit++ {
		seen := m.deepen(seat)
		if seen > 0 {
			i = l.best()
		}
		if seen < len(l.order) {
			break
		}
		l.rank()
	}
	m.value = l.worth[i]
	return l.legal[i], nil
}

// Value implements Reporter.
func (m *Minimax) Value() float32 { return m.value }

// deepen replaces the worth of the root's choices by what they are worth some choices further,
// and returns how many of the live ones it came to before the time was over, those that are too
// many to go into among them. With one or more, the rest are out; with none, all are as before.
func (m *Minimax) deepen(seat int) int {
	l := &m.ply[0]
	alpha := l.finished()
	for n, k := range l.order {
		if n >= m.width {
			l.drop(n)
			break
		}
		if n > 0 && m.clock.up() {
			l.drop(n)
			return n
		}
		// The window begins just below alpha: a choice as good as the best is told from a worse one.
		v := m.after(l.states[k], seat, 1, math.Nextafter32(alpha, -3*Win), 2*Win)
		if m.cut {
			if n > 0 {
				l.drop(n)
			}
			return n
		}
		l.worth[l.slot[k]] = v
		if better(v, alpha) {
			alpha = v
		}
	}
	return len(l.order)
}

// descend returns what the best choice of seat at depth d, judged already, is worth some choices
// further. Choices that are not gone into are out. A worth outside of alpha to beta is only a
// bound.
func (m *Minimax) descend(seat, d int, alpha, beta float32) float32 {
	l := &m.ply[d]
	l.order = l.arrange(l.order, true)
	best := l.finished()
	for n, k := range l.order {
		if n >= m.width || best >= beta {
			break
		}
		if n > 0 && m.clock.up() {
			m.cut = true
		}
		if m.cut {
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

// after returns what s, d choices from the root, is worth to seat, which has just moved.
func (m *Minimax) after(s env.State, seat, d int, alpha, beta float32) float32 {
	mover := s.Acting().First()
	passed := mover == seat // the other seat did
	if !passed {
		alpha, beta = -beta, -alpha
	}
	l := &m.ply[d]
	l.open(s, mover, d+1)
	l.judge(m.eval, mover)
	var v float32
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

// finished returns the worth of the best choice that ends the game, or less than any.
func (l *minimaxLevel) finished() float32 {
	best := -2 * Win
	k := 0
	for i := range l.legal { // slots ascend
		if k < l.live && l.slot[k] == i {
			k++
		} else if better(l.worth[i], best) {
			best = l.worth[i]
		}
	}
	return best
}

// drop takes the choices from order[n] on out of the choice.
func (l *minimaxLevel) drop(n int) {
	for _, k := range l.order[n:] {
		l.worth[l.slot[k]] = -2 * Win
	}
}

// rank orders the live children anew, by what their choices are worth now.
func (l *minimaxLevel) rank() {
	for n := range l.order {
		for j := n; j > 0 && l.worth[l.slot[l.order[j]]] > l.worth[l.slot[l.order[j-1]]]; j-- {
			l.order[j], l.order[j-1] = l.order[j-1], l.order[j]
		}
	}
}
