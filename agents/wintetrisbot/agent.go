package wintetrisbot

import (
	"context"

	"blockyard/env"
	"blockyard/env/wintetris"
)

// An Agent plays any variant of WinTetris by a Solver: in wintetris:tick it answers every
// tick, elsewhere it names the place the solver steers for. It is not safe for concurrent
// use, and in wintetris:tick it belongs to one game.
type Agent struct {
	solver *Solver
	value  float64
}

// NewAgent returns an Agent that plays by s.
func NewAgent(s *Solver) *Agent { return &Agent{solver: s} }

// Act implements env.Agent. With no place to steer for the answer is env.None, or no bits.
func (a *Agent) Act(_ context.Context, state env.State, _ int) (env.Action, error) {
	s := state.(*wintetris.State)
	if s.Mode == wintetris.Ticks {
		bits := a.solver.Update(&s.Field, s.Piece, s.Upcoming(), s.New)
		_, a.value, _ = a.solver.Target()
		return env.Action(bits), nil
	}
	target, ok := a.solver.Choose(&s.Field, s.Piece, s.Upcoming())
	if !ok {
		return env.None, nil
	}
	_, a.value, _ = a.solver.Target()
	return target.Action(), nil
}

// Value is what the place steered for is worth, in the units of the rater.
func (a *Agent) Value() float32 { return float32(a.value) }
