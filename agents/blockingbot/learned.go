package blockingbot

import (
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blocking"
)

// A Learned is an agents/search.Evaluator: a trained net over the features. The net knows
// positions as they are for a seat that has just placed. With two seats any other position
// is worth the opposite of what it is to the other seat. It belongs to one agent.
type Learned struct {
	net    *mlp.Net
	reader Reader
	rest   [ConstLen]float32
	acc    []float32 // the first layer's sums over rest
	x      []float32 // [states][OwnLen], grows to the most states seen
	flip   []bool    // [states]
}

// NewLearned returns a Learned over net, of Len inputs and one output: the log odds that
// the seat wins, or anything else that is higher where its position is better and has the
// opposite sign for the other seat. Nets made by Clone may be used at the same time.
func NewLearned(net *mlp.Net) (*Learned, error) {
	if net.In() != Len || net.Out() != 1 {
		return nil, fmt.Errorf("blocking: a net of %d inputs and %d outputs, want %d and 1", net.In(), net.Out(), Len)
	}
	return &Learned{net: net, acc: make([]float32, net.AccLen())}, nil
}

// Evaluate implements search.Evaluator.
func (l *Learned) Evaluate(states []env.State, seat int, out []float32) {
	if need := len(states) * OwnLen; len(l.x) < need {
		l.x, l.flip = make([]float32, need), make([]bool, len(states))
	}
	l.reader.Const(states[0].(*blocking.State), l.rest[:])
	l.net.Base(l.rest[:], OwnLen, l.acc)
	for i := range states {
		s, view := states[i].(*blocking.State), seat
		l.flip[i] = false
		if last := placer(s); s.Seats == 2 && last != seat {
			l.flip[i], view = true, last
		}
		l.reader.Own(s, view, l.x[i*OwnLen:(i+1)*OwnLen])
	}
	l.net.ForwardFrom(l.acc, l.x, OwnLen, len(states), out)
	for i := range states {
		if l.flip[i] {
			out[i] = -out[i]
		}
	}
}
