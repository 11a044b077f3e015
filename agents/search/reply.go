package search

import (
	"context"

	"blockyard/env"
)

// Reply is an agent for games in which seats take turns. It looks at the best of its own
// choices, as one ply judges them, and at the reply to each that the next seat would
// think best for itself; it plays the choice that leaves it best off after the reply.
//
// With an evaluator for which one seat's gain is the other's loss this is two plies of
// minimax in a game of two; with more seats, each is taken to play for itself.
//
// Out of time, it plays the best of the choices whose reply it has seen.
type Reply struct {
	eval  Evaluator
	width int
	root  level
	reply level
	order []int // live children of the root, the best by one ply first
	out   [1]float32
	value float32
}

// NewReply returns a Reply for g that judges with e and looks at the replies to the best
// width choices, width ≥ 1.
func NewReply(g *env.Game, e Evaluator, width int) *Reply {
	return &Reply{eval: e, width: width, root: level{game: g}, reply: level{game: g}}
}

// Act implements env.Agent.
func (r *Reply) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	r.root.open(s, seat, 1)
	if len(r.root.legal) == 0 {
		return env.None, stuck(seat)
	}
	c := newClock(ctx)
	r.root.judge(r.eval, seat)
	r.order = r.root.arrange(r.order, true)
	for seen, k := range r.order {
		i := r.root.slot[k]
		if seen >= r.width || seen > 0 && c.up() {
			r.root.worth[i] = -Win // never looked at: out of the choice
			continue
		}
		r.root.worth[i] = r.after(r.root.states[k], seat)
	}
	i := r.root.best()
	r.value = r.root.worth[i]
	return r.root.legal[i], nil
}

// Value implements Reporter.
func (r *Reply) Value() float32 { return r.value }

// after returns what s is worth to seat once the seat to move has played what it thinks
// best for itself.
func (r *Reply) after(s env.State, seat int) float32 {
	mover := s.Acting().First()
	l := &r.reply
	l.open(s, mover, 2)
	l.judge(r.eval, mover)
	if len(l.legal) == 0 {
		return Win - 2 // a seat that has to choose and cannot has lost
	}
	// Finished children are not kept, so the best reply is made once more.
	a := l.legal[l.best()]
	l.live = 0
	end := l.next()
	end.CopyFrom(s)
	env.After(end, mover, a) // s has its draws forced still
	if v, ended := over(end, seat, 2); ended {
		return v
	}
	r.eval.Evaluate(l.states[:1], seat, r.out[:])
	return r.out[0]
}
