package search

import (
	"context"

	"blockyard/env"
)

// Minimax is an agent for games of two seats that take turns. It looks some choices ahead,
// alternately its own and the opponent's, goes on with the best few at every level as one
// ply judges them, and leaves out lines that can no longer change the outcome (alpha-beta).
// The evaluator's worth for one seat is taken to be the other's loss.
//
// Out of time, it plays the best of the choices it has looked at to the end.
type Minimax struct {
	eval  Evaluator
	width int
	ply   []minimaxLevel
	clock clock
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
	return m
}

// Act implements env.Agent.
func (m *Minimax) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	m.clock = newClock(ctx)
	l := &m.ply[0]
	l.open(s, seat, 1)
	if len(l.legal) == 0 {
		return env.None, stuck(seat)
	}
	l.judge(m.eval, seat)
	if len(m.ply) > 1 {
		m.descend(0, -2*Win, 2*Win)
	}
	i := l.best()
	m.value = l.worth[i]
	return l.legal[i], nil
}

// Value implements Reporter.
func (m *Minimax) Value() float32 { return m.value }

// descend replaces the worth of the choices at depth d, judged already, by what they are
// worth some choices further, and returns the best. Choices that are not gone into are
// out. A worth outside of alpha to beta is only a bound.
func (m *Minimax) descend(d int, alpha, beta float32) float32 {
	l := &m.ply[d]
	l.order = l.arrange(l.order, true)
	best := -2 * Win
	for i := range l.legal { // finished games first: their worth is known
		if l.find(i) < 0 && better(l.worth[i], best) {
			best = l.worth[i]
		}
	}
	for seen, k := range l.order {
		i := l.slot[k]
		if seen >= m.width || best >= beta || seen > 0 && m.clock.up() {
			l.worth[i] = -2 * Win
			continue
		}
		if best > alpha {
			alpha = best
		}
		l.worth[i] = m.after(l.states[k], d+1, alpha, beta)
		if better(l.worth[i], best) {
			best = l.worth[i]
		}
	}
	return best
}

// find returns which of the live children choice i led to, -1 if to a finished game.
func (l *level) find(i int) int {
	for k := 0; k < l.live; k++ {
		if l.slot[k] == i {
			return k
		}
	}
	return -1
}

// after returns what s, d choices from the root, is worth to the seat that has just moved.
func (m *Minimax) after(s env.State, d int, alpha, beta float32) float32 {
	mover := s.Acting().First()
	l := &m.ply[d]
	l.open(s, mover, d+1)
	if len(l.legal) == 0 {
		return Win - float32(d+1) // a seat that has to choose and cannot has lost
	}
	l.judge(m.eval, mover)
	if d+1 < len(m.ply) {
		return -m.descend(d, -beta, -alpha)
	}
	return -l.worth[l.best()]
}
