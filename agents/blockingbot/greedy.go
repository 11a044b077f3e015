package blockingbot

import (
	"blockyard/env"
	"blockyard/env/blocking"
)

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
