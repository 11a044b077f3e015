package search

import "blockyard/env"

// A LeafEvaluator is an Evaluator that can also value the positions that actions lead to without making them. The last
// ply of a search needs nothing but their values.
type LeafEvaluator interface {
	Evaluator
	// EvaluateLeaves writes to out[i] the value for seat of the position that its action legal[i] in s leads to, the
	// same bits as Evaluate. It appends to rest the indices of actions that it leaves out, in ascending order: those
	// that end the game, and any others. The draws of s are forced to be 0. len(out) ≥ len(legal). EvaluateLeaves
	// must not change or keep s.
	EvaluateLeaves(s env.State, seat int, legal []env.Action, out []float32, rest []int) []int
}

// leaves is expand and evaluate for positions that the search does not go on from: it makes only those that e leaves
// to it, and these alone are live.
func (l *level) leaves(e Evaluator, s env.State, seat, ply int) {
	if direct {
		if d, ok := e.(LeafEvaluator); ok {
			l.list(s, seat)
			l.rest = d.EvaluateLeaves(s, seat, l.legal, l.value, l.rest[:0])
			l.live = 0
			for _, i := range l.rest {
				l.child(i, s, seat, ply)
			}
			l.evaluate(e, seat)
			return
		}
	}
	l.expand(s, seat, ply)
	l.evaluate(e, seat)
}
