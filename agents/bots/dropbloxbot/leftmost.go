package dropbloxbot

import (
	"context"

	"blockyard/env"
	"blockyard/env/dropblox"
)

// Leftmost moves every block as far to the left as it goes, without turning it, and drops it there. It is the sample
// player of the contest: a program that plays as it does reads the state and moves a block as it should.
type Leftmost struct{}

// Act implements env.Agent.
func (Leftmost) Act(_ context.Context, state env.State, _ int) (env.Action, error) {
	s := state.(*dropblox.State)
	b := s.Block(0)
	for dropblox.Left.Carry(&b, &s.Taken) {
	}
	b.Drop(&s.Taken)
	return dropblox.Placement{J: int(b.Center.J), I: int(b.Center.I)}.Action(), nil
}
