package toy

import (
	"fmt"

	"blockyard/env"
)

// Null returns the game null:N of two seats, with observations as long as those of n rows of other games.
func Null(n int) *env.Game {
	g := *Pick
	g.Name, g.ID = fmt.Sprintf("null:%d", n), fmt.Sprintf("Null%d-v0", n)
	g.Planes, g.PlaneNames = env.Shape{C: 1, H: max(1, n/2), W: 245}, []string{"nothing"} // for two rows
	g.New = func(seats int) env.State { return &nullState{*Pick.New(seats).(*State)} }
	return &g
}

// A nullState is a game that never ends and whose large boards are never written.
type nullState struct{ State }

func (s *nullState) Step(m env.Moves) {
	s.State.Step(m)
	s.Played, s.Points = 0, [env.MaxSeats]uint8{}
}

func (s *nullState) CopyFrom(src env.State) { *s = *src.(*nullState) }

// Observe implements env.State without writing the boards.
func (s *nullState) Observe(seat int, _ []uint8, globals []float32) {
	var planes [12]uint8
	s.State.Observe(seat, planes[:], globals)
}
