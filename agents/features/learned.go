package features

import (
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// A Learned is a search.Evaluator: a value network over features. What the afterstates of one
// decision share enters the first layer once for all of them. It belongs to one agent.
type Learned struct {
	Net    *mlp.Net // from all features to one value; see Check
	Reader Reader
	Own    int // how many features Reader.Own writes
	// Side returns the seat whose features of s the network reads when the worth of s for seat
	// is wanted. If that is another seat, s is worth the negative of what the network says.
	Side func(s env.State, seat int) int

	shared []float32
	acc    []float32 // the first layer's sums over shared
	x      []float32 // [states][Own], grows to the most states seen
}

// Check refuses a network that is not one from so many features to one value.
func Check(net *mlp.Net, inputs int) error {
	if net.In() != inputs || net.Out() != 1 {
		return fmt.Errorf("a net of %d inputs and %d outputs, want %d and 1", net.In(), net.Out(), inputs)
	}
	return nil
}

// Evaluate implements search.Evaluator.
func (l *Learned) Evaluate(states []env.State, seat int, out []float32) {
	own, n, net := l.Own, len(states), l.Net
	if len(l.x) < n*own {
		l.x, l.shared, l.acc = make([]float32, n*own), make([]float32, net.In()-own), make([]float32, net.AccLen())
	}
	l.Reader.Shared(states[0], seat, l.shared)
	net.Base(l.shared, own, l.acc)
	for i, s := range states {
		l.Reader.Own(s, l.Side(s, seat), l.x[i*own:(i+1)*own])
	}
	net.ForwardFrom(l.acc, l.x, own, n, out)
	for i, s := range states {
		if out[i] = search.Clamp(out[i]); l.Side(s, seat) != seat {
			out[i] = -out[i]
		}
	}
}
