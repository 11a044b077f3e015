package search

import (
	"context"

	"blockyard/env"
)

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
	c := newClock(ctx)
	if err := r.root.open(r.eval, s, seat); err != nil {
		return env.None, err
	}
	r.root.arrange(true)
	for n, k := range r.root.order {
		i := r.root.slot[k]
		if n >= r.width || n > 0 && c.up() {
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
	l.expand(s, mover, 2)
	l.evaluate(r.eval, mover)
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
