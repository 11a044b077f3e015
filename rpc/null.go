package main

import (
	"fmt"
	"slices"

	"blockyard/env"
	"blockyard/env/envtest/toy"
)

// A nullState is a game with large boards that are never written: a step measures the transport alone.
type nullState struct{ toy.State }

// CopyFrom implements env.State.
func (s *nullState) CopyFrom(src env.State) { *s = *src.(*nullState) }

// Observe implements env.State without writing the boards.
func (s *nullState) Observe(seat int, _ []uint8, globals []float32) {
	var planes [12]uint8
	s.State.Observe(seat, planes[:], globals)
}

// nullBytes is the size of a row of a typical game on the wire.
const nullBytes = 245

// null is one game with observations as large as those of n rows of other games.
func null(n int) *env.Game {
	g := *toy.Pick
	g.Name, g.ID = fmt.Sprintf("null:%d", n), fmt.Sprintf("Null%d-v0", n)
	g.Planes, g.PlaneNames = env.Shape{C: 1, H: max(1, n/2), W: nullBytes}, []string{"nothing"} // for two rows
	g.New = func(seats int) env.State { return &nullState{*toy.Pick.New(seats).(*toy.State)} }
	return &g
}

var nullSizes = []int{1, 64, 1024, 4096, 16384}

// toys are games that take almost no time, to measure everything else.
var toys = slices.Concat([]*env.Game{toy.Pick, toy.Turns}, nulls())

func nulls() (all []*env.Game) {
	for _, n := range nullSizes {
		all = append(all, null(n))
	}
	return all
}
