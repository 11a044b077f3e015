package blockbattlebot

import (
	"blockyard/agents/features"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Term is one number that the hand-tuned evaluator weighs.
type Term int

// The terms. Those of the board are counts of shape, those in stock come from the side.
const (
	Holes     Term = iota // holes
	Covers                // cells above the topmost hole of their column
	HoleRows              // rows with a hole
	Overhangs             // holes open from the side: a piece may be slid in
	RowEdges              // changes between taken and empty along the rows
	ColEdges              // and down the columns
	Wells                 // depth of the wells, the k-th cell of one counting k
	Bumps                 // steps between neighbouring columns, the lowest column left out
	Cells                 // cells: a row cleared for nothing costs ten
	Peak                  // square of the rows by which the highest column is above row 10
	Spawn                 // square of the rows that lack to four free ones over the spawn columns
	GapOpen               // rows that lack one cell, an open one
	GapClosed             // rows that lack one cell, a hole
	Ready                 // rows the I would clear in the lowest column
	Quad                  // 1 if these are four
	Slots                 // places for a T-spin, of any size
	Singles               // of those, the ones that clear one row
	Doubles               // 1 if one of those clears two
	Notches               // the same places, no shoulder covered yet
	Halves                // of those, the ones that lack nothing else in the lower row
	Points                // points got
	Sent                  // rows sent and still on their way
	Combo                 // running combo
	Skips                 // skips in stock, four at most
	Pressed               // rows sent and the opponent's lack of room to take them, multiplied
	Buried                // 1 if the opponent has no room for the rows sent
	Exposed               // square of the rows by which the room falls short of the threat and three more
	Terms                 // how many there are
)

// TermNames names the terms in order: in weight files and tables.
var TermNames = [Terms]string{
	"holes", "covers", "hole_rows", "overhangs", "row_edges", "column_edges", "wells", "bumps", "cells",
	"peak", "spawn", "gap_open", "gap_closed", "ready", "quad", "slots", "singles", "doubles", "notches", "halves",
	"points", "sent", "combo", "skips", "pressed", "buried", "exposed",
}

// Weights say what one of each term is worth.
type Weights [Terms]float32

// A Hand is an agents/search.Evaluator: terms times weights. It belongs to one agent.
type Hand struct {
	Weights Weights
	opp     opponent
	own     shape
	terms   [Terms]float32
}

// NewHand returns a Hand with the tuned weights.
func NewHand() *Hand { return &Hand{Weights: Tuned} }

// Evaluate implements search.Evaluator.
func (h *Hand) Evaluate(states []env.State, seat int, out []float32) {
	h.opp.measure(states[0].(*blockbattle.State), seat)
	for i, s := range states {
		h.measure(s.(*blockbattle.State), seat)
		sum := float32(0)
		for t, v := range h.terms {
			sum += float32(v * h.Weights[t])
		}
		out[i] = search.Clamp(sum)
	}
}

// measure fills in the terms of s for seat; opp has the other half.
func (h *Hand) measure(s *blockbattle.State, seat int) {
	own, side, t := &h.own, &s.Sides[seat], &h.terms
	own.measure(&side.Cells, int(side.Solid))
	t[Holes] = float32(own.holes)
	t[Covers] = float32(own.covers)
	t[HoleRows] = float32(own.holeRows)
	t[Overhangs] = float32(own.overhangs)
	t[RowEdges] = float32(own.rowEdges)
	t[ColEdges] = float32(own.colEdges)
	t[Wells] = float32(own.wells)
	t[Bumps] = float32(own.bumps())
	t[Cells] = float32(own.cells)
	t[Peak] = features.OverSquared(10, own.minFree)
	t[Spawn] = features.OverSquared(4, own.spawn)
	t[GapOpen] = float32(own.gapOpen)
	t[GapClosed] = float32(own.gapClosed)
	t[Ready] = float32(own.ready)
	t[Quad] = features.Yes(own.ready == 4)
	t[Slots] = float32(own.slots)
	t[Singles] = float32(own.singles)
	t[Doubles] = features.Yes(own.doubles > 0)
	t[Notches] = float32(own.notches)
	t[Halves] = float32(own.halves)
	t[Points] = float32(side.Points)
	t[Combo] = float32(side.Combo)
	t[Skips] = capped(side.Skips, 4)
	t[Exposed] = features.OverSquared(h.opp.threat+3, own.minFree)

	sent, room := int(s.Sides[1-seat].Pending), h.opp.shape.minFree
	t[Sent] = float32(sent)
	t[Pressed] = float32(sent * features.Over(10, room))
	t[Buried] = features.Yes(sent > room)
}

// bumps is the sum of the steps between neighbouring columns, the lowest column being
// passed over.
func (s *shape) bumps() int {
	sum, last, passed := 0, -1, false
	for _, t := range s.top {
		if t == s.deepest && !passed {
			passed = true
			continue
		}
		if last >= 0 {
			d := t - last
			if d < 0 {
				d = -d
			}
			sum += d
		}
		last = t
	}
	return sum
}
