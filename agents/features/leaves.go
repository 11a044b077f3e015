package features

import (
	"blockyard/agents/search"
	"blockyard/env"
)

// A LeafReader is a Reader that can do without most of the afterstates: it reads them from the position of the decision
// and the actions. The features are those that Shared and Own give.
type LeafReader interface {
	Reader
	// SharedAfter is Shared for the afterstates of seat's actions in s, with draws forced to be 0, and prepares the
	// reader for OwnAfter. s must not change before the last call of OwnAfter.
	SharedAfter(s env.State, seat int, out []float32)
	// OwnAfter is Own for the afterstate of a. It returns false if that is a finished game or not one that the reader
	// reads; out is then undefined.
	OwnAfter(a env.Action, out []float32) bool
}

var _ search.LeafEvaluator = (*Learned)(nil)

// EvaluateLeaves implements search.LeafEvaluator. With a Reader that is no LeafReader it leaves out all actions. The
// network reads the features of the seat that has acted.
func (l *Learned) EvaluateLeaves(s env.State, seat int, legal []env.Action, out []float32, rest []int) []int {
	r, ok := l.Reader.(LeafReader)
	if !ok || len(legal) == 0 {
		for i := range legal {
			rest = append(rest, i)
		}
		return rest
	}
	own := l.Own
	l.grow(len(legal))
	r.SharedAfter(s, seat, l.shared)
	l.Net.Base(l.shared, own, l.acc)
	n, first := 0, len(rest)
	for i, a := range legal {
		if r.OwnAfter(a, l.x[n*own:(n+1)*own]) {
			n++
		} else {
			rest = append(rest, i)
		}
	}
	l.Net.ForwardFrom(l.acc, l.x, own, n, out)
	// The values are in out[:n]; from the last one on they move to the places of their actions.
	left := rest[first:]
	for i := len(legal) - 1; n > 0; i-- {
		if k := len(left) - 1; k >= 0 && left[k] == i {
			left = left[:k]
			continue
		}
		n--
		out[i] = search.Clamp(out[n])
	}
	return rest
}
