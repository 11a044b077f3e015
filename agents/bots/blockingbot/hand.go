package blockingbot

import (
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
)

// A Term is one number of a seat that the hand-tuned evaluator weighs.
type Term int

// The terms.
const (
	Squares Term = iota // laid
	Corners             // connected cells
	Safe                // of those, the ones nobody else may cover
	Allowed             // free cells that touch none of its own by a side
	Reach1              // allowed cells within a step of a connected one
	Reach2              // within two
	Reach4              // within four
	First               // cells reached before all others
	Terms               // how many there are
)

// TermNames names the terms in order: in weight files and tables.
var TermNames = [Terms]string{"squares", "corners", "safe", "allowed", "reach1", "reach2", "reach4", "first"}

// Weights say what one of each term is worth.
type Weights [Terms]float32

// A Hand is an agents/search.Evaluator: what a seat has by terms and weights, less what
// the others have: half the best of them and half their mean, which with two seats is one
// seat's gain and the other's loss. It belongs to one agent.
type Hand struct {
	Weights Weights
	m       analysis
}

// NewHand returns a Hand with the tuned weights.
func NewHand() *Hand { return &Hand{Weights: Tuned} }

// Evaluate implements search.Evaluator.
func (h *Hand) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		out[i] = h.worth(s.(*blocking.State), seat)
	}
}

func (h *Hand) worth(s *blocking.State, seat int) float32 {
	n := int(s.Seats)
	far := 4 // the terms look no further, but for the last
	if h.Weights[First] != 0 {
		far = steps
	}
	for i := 0; i < n; i++ {
		h.m.spread(s, i, far)
	}
	var own, best, sum float32
	for i, first := 0, true; i < n; i++ {
		v := float32(0)
		for t, x := range h.m.terms(s, i, &h.Weights) { // rounded one by one: no machine may fuse them
			v += float32(x * h.Weights[t])
		}
		if i == seat {
			own = v
			continue
		}
		if sum += v; first || v > best {
			best, first = v, false
		}
	}
	return search.Clamp(own - best/2 - sum/float32(2*(n-1)))
}

// terms are a seat's; flood has looked at all seats. Two that take long are 0 if they weigh nothing.
func (m *analysis) terms(s *blocking.State, seat int, w *Weights) (t [Terms]float32) {
	d := &m.sides[seat]
	t[Squares] = float32(s.Points[seat])
	t[Corners] = float32(d.connected.Count())
	if w[Safe] != 0 {
		t[Safe] = float32(m.safe(s, seat))
	}
	t[Allowed] = float32(d.allowed.Count())
	t[Reach1] = float32(d.reach[1].Count())
	t[Reach2] = float32(d.reach[2].Count())
	t[Reach4] = float32(d.reach[4].Count())
	if w[First] != 0 {
		alone, _ := m.first(s, seat)
		t[First] = float32(alone)
	}
	return t
}

// Greedy is a search.Evaluator that counts squares on the board first: with a search of one ply
// it places the largest pieces first. Among equals it prefers many placements for its next turn
// and few for the others. It serves as an opponent to measure other agents by.
type Greedy struct{ m analysis }

// large is more than any number of placements.
const large = 4096

// Evaluate implements search.Evaluator.
func (g *Greedy) Evaluate(states []env.State, seat int, out []float32) {
	for i := range states {
		s := states[i].(*blocking.State)
		worth := large * int(s.Points[seat])
		others := 0
		for k := 0; k < int(s.Seats); k++ {
			g.m.flood(s, k)
			g.m.place(s, k)
			if k == seat {
				worth += g.m.sides[k].places
			} else {
				others += g.m.sides[k].places
			}
		}
		out[i] = float32(worth) - float32(others)/float32(int(s.Seats)-1)
	}
}

// Tuned are the weights Hand plays with: the best of some thirty tried against each other
// and against Greedy, one choice deep.
var Tuned = Weights{Squares: 1, Corners: 0.5, Allowed: 0.2, Reach4: 0.15}
