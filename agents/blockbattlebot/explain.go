package blockbattlebot

import (
	"fmt"
	"strings"

	"blockyard/env/blockbattle"
)

// Measure returns the terms of s, an afterstate of seat.
func Measure(s *blockbattle.State, seat int) [Terms]float32 {
	var h Hand
	h.rival.Look(s, seat)
	h.measure(s, seat)
	return h.terms
}

// Explain returns a table of what a Hand with weights w makes of s, an afterstate of
// seat: a line for each term that is not 0 with its number, its weight and their product,
// and the sum.
func (w Weights) Explain(s *blockbattle.State, seat int) string {
	terms := Measure(s, seat)
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %8s %9s %9s\n", "term", "number", "weight", "worth")
	sum := float32(0)
	for t, v := range terms {
		if v != 0 {
			fmt.Fprintf(&b, "%-14s %8g %9.3f %9.2f\n", TermNames[t], v, w[t], v*w[t])
		}
		sum += v * w[t]
	}
	fmt.Fprintf(&b, "%-14s %8s %9s %9.2f\n", "sum", "", "", sum)
	return b.String()
}
