package blockingbot

import (
	"fmt"
	"strings"

	"blockyard/env/blocking"
)

// Measure returns the terms of a seat in s.
func Measure(s *blocking.State, seat int) [Terms]float32 {
	var m measurer
	for i := 0; i < int(s.Seats); i++ {
		m.flood(s, i)
	}
	return m.terms(s, seat)
}

// Explain returns a table of what a Hand with weights w makes of s: a line for each term
// with its weight and its number for every seat, seat's own first, and the sums.
func (w Weights) Explain(s *blocking.State, seat int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %8s", "term", "weight")
	var terms [][Terms]float32
	for i := 0; i < int(s.Seats); i++ {
		who := (seat + i) % int(s.Seats)
		fmt.Fprintf(&b, " %8s", fmt.Sprintf("seat %d", who))
		terms = append(terms, Measure(s, who))
	}
	sums := make([]float32, len(terms))
	for t, weight := range w {
		fmt.Fprintf(&b, "\n%-10s %8g", TermNames[t], weight)
		for i := range terms {
			fmt.Fprintf(&b, " %8g", terms[i][t])
			sums[i] += weight * terms[i][t]
		}
	}
	fmt.Fprintf(&b, "\n%-10s %8s", "sum", "")
	for _, v := range sums {
		fmt.Fprintf(&b, " %8.2f", v)
	}
	return b.String() + "\n"
}
