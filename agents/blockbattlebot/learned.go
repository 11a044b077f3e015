package blockbattlebot

import (
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Learned is an agents/search.Evaluator: a trained net over the features. What the
// choices of one decision share is added up once for all of them. It belongs to one agent.
type Learned struct {
	net   *mlp.Net
	rival Rival
	rest  [ConstLen]float32
	acc   []float32 // the first layer's sums over rest
	x     []float32 // [states][OwnLen], grows to the most states seen
}

// NewLearned returns a Learned over net, of Len inputs and one output: the log odds that
// the seat wins, or anything else that is higher where its position is better. Nets made
// by Clone may be used at the same time.
func NewLearned(net *mlp.Net) (*Learned, error) {
	if net.In() != Len || net.Out() != 1 {
		return nil, fmt.Errorf("blockbattle: a net of %d inputs and %d outputs, want %d and 1", net.In(), net.Out(), Len)
	}
	return &Learned{net: net, acc: make([]float32, net.AccLen())}, nil
}

// Evaluate implements search.Evaluator.
func (l *Learned) Evaluate(states []env.State, seat int, out []float32) {
	if need := len(states) * OwnLen; len(l.x) < need {
		l.x = make([]float32, need)
	}
	first := states[0].(*blockbattle.State)
	l.rival.Look(first, seat)
	l.rival.Const(first, seat, l.rest[:])
	l.net.Base(l.rest[:], OwnLen, l.acc)
	for i, s := range states {
		l.rival.Own(s.(*blockbattle.State), seat, l.x[i*OwnLen:(i+1)*OwnLen])
	}
	l.net.ForwardFrom(l.acc, l.x, OwnLen, len(states), out)
}
