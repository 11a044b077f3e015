package tetrisduelbot

import (
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// A Learned is an agents/search.Evaluator: a trained net over the features. The net knows
// positions after a choice; where seat is to move, the position is worth to it what it is
// not worth to the opponent, who has just moved. What the choices of one decision share is
// added up once for all of them. It belongs to one agent.
type Learned struct {
	net  *mlp.Net
	eye  Eye
	rest [ConstLen]float32
	acc  []float32 // the first layer's sums over rest
	x    []float32 // [states][OwnLen], grows to the most states seen
}

// NewLearned returns a Learned over net, of Len inputs and one output: the log odds that
// the seat that has just moved wins, or anything else that is higher where its position is
// better. Nets made by Clone may be used at the same time.
func NewLearned(net *mlp.Net) (*Learned, error) {
	if net.In() != Len || net.Out() != 1 {
		return nil, fmt.Errorf("tetrisduel: a net of %d inputs and %d outputs, want %d and 1", net.In(), net.Out(), Len)
	}
	return &Learned{net: net, acc: make([]float32, net.AccLen())}, nil
}

// Evaluate implements search.Evaluator.
func (l *Learned) Evaluate(states []env.State, seat int, out []float32) {
	if need := len(states) * OwnLen; len(l.x) < need {
		l.x = make([]float32, need)
	}
	first := states[0].(*tetrisduel.State)
	l.eye.Look(first)
	l.eye.Const(first, l.rest[:])
	l.net.Base(l.rest[:], OwnLen, l.acc)
	for i, s := range states {
		l.eye.Own(s.(*tetrisduel.State), l.x[i*OwnLen:(i+1)*OwnLen])
	}
	l.net.ForwardFrom(l.acc, l.x, OwnLen, len(states), out)
	for i := range out {
		if out[i] = within(out[i], float32(search.Limit)); l.eye.seat != seat {
			out[i] = -out[i]
		}
	}
}
