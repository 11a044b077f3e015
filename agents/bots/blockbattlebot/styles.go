package blockbattlebot

import "blockyard/agents/bots/entry"

// styles are opponents of other styles, for gates, training and ladders: the hand-tuned evaluator with other weights.
var styles = []entry.Other{
	// combo clears rows round after round.
	style("combo", func(w *Weights) {
		w[Combo] *= 8
	}),
	// tspin builds places for T-spins.
	style("tspin", func(w *Weights) {
		for _, t := range []Term{Slots, Singles, Notches, Halves} {
			w[t] += 20
		}
		w[Doubles] *= 2
	}),
	// quad keeps one column open for clears of four rows.
	style("quad", func(w *Weights) {
		w[Ready] += 20
		w[Quad] *= 8
	}),
	// skipper plays a skip as soon as it has one.
	style("skipper", func(w *Weights) {
		w[Skips] = -40
	}),
	// digger keeps its board low and clean and hardly attacks.
	style("digger", func(w *Weights) {
		w[Cells] = -6
		for _, t := range []Term{Points, Sent, Doubles, Pressed} {
			w[t] /= 4
		}
	}),
}

// style returns an agent that plays with the tuned weights after change.
func style(name string, change func(*Weights)) entry.Other {
	w := Tuned
	change(&w)
	return entry.Other{Name: name, New: func() entry.Judge { return &Hand{Weights: w} }}
}
