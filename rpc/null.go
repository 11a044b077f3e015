package main

import (
	"fmt"
	"slices"

	"blockyard/env"
	"blockyard/env/envtest/toy"
)

// A nullState is a game whose boards are large and never touched: what a step of it costs
// is the wire alone.
type nullState struct{ toy.State }

// CopyFrom implements env.State.
func (s *nullState) CopyFrom(src env.State) { *s = *src.(*nullState) }

// Observe implements env.State but for writing the boards, which stay what they were.
func (s *nullState) Observe(seat int, _ []uint8, globals []float32) {
	var planes [12]uint8
	s.State.Observe(seat, planes[:], globals)
}

// nullBytes is what a row of a game of modest size takes on the wire.
const nullBytes = 245

// null is one game with as much to show as n rows of others.
func null(n int) *env.Game {
	g := *toy.Pick
	g.Name, g.ID = fmt.Sprintf("null:%d", n), fmt.Sprintf("Null%d-v0", n)
	g.Planes, g.PlaneNames = env.Shape{C: 1, H: max(1, n/2), W: nullBytes}, []string{"nothing"} // two rows show it
	g.New = func(seats int) env.State { return &nullState{*toy.Pick.New(seats).(*toy.State)} }
	return &g
}

var nullSizes = []int{1, 64, 1024, 4096, 16384}

// toys are games that cost next to nothing, for measuring what is around a game.
var toys = slices.Concat([]*env.Game{toy.Pick, toy.Turns}, nulls())

func nulls() (all []*env.Game) {
	for _, n := range nullSizes {
		all = append(all, null(n))
	}
	return all
}
