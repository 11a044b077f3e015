// Package toybot plays the toy games of package env/envtest/toy. It is the smallest entry that
// offers evaluators, features, training and a contest: tests use it as a game that no
// program was written for, and it shows what a new game needs.
package toybot

import (
	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"io"
)

// Entry is what programs offer for the toy games. No network is shipped for them.
var Entry = &entry.Entry{
	Game: "toy",
	Baseline: &entry.Baseline{Terms: []string{"points", "lead"}, Weights: []float32{0.25, 1},
		New: func(w []float32) entry.Evaluator { return hand{w[0], w[1]} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: featureNames, Own: len(featureNames) - 1,
			New: func() features.Reader { return reader{} }},
		New: func(n *mlp.Net) entry.Evaluator {
			side := func(_ env.State, seat int) int { return seat }
			return &features.Learned{Net: n, Reader: reader{}, Own: len(featureNames) - 1, Side: side}
		},
	},
	Host:  hosted,
	Codec: func(*env.Game, io.Writer, io.Writer) contest.Codec { return codec{} },
}

// hand is the baseline evaluator: the weights of a seat's points and of its lead.
type hand struct{ points, lead float32 }

func (h hand) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		own, lead := standing(s.(*toy.State), seat)
		out[i] = search.Clamp(h.points*own + h.lead*lead)
	}
}

func standing(s *toy.State, seat int) (points, lead float32) {
	points = float32(s.Points[seat])
	best := float32(0)
	for i := range int(s.Seats) {
		if i != seat {
			best = max(best, float32(s.Points[i]))
		}
	}
	return points, points - best
}

var featureNames = []string{"points", "lead", "took 1", "took 2", "took 3", "cards"}

// A reader reads the features: all but the number of cards change with a seat's choice.
type reader struct{}

func (reader) Shared(s env.State, _ int, out []float32) {
	out[0] = float32(s.(*toy.State).Played) / toy.Length
}

func (reader) Own(state env.State, seat int, out []float32) {
	s := state.(*toy.State)
	points, lead := standing(s, seat)
	out[0], out[1], out[2], out[3], out[4] = points/toy.Target, lead/toy.Target, 0, 0, 0
	if took := s.Last[seat]; took > 0 {
		out[1+took] = 1
	}
}
