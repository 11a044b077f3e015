package blockbattlebot

import (
	"math/bits"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Term is a property of a position to which Hand gives a weight, as an index of Weights.
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

// TermNames are the names of the terms in files of weights and tables, in the order of the constants.
var TermNames = [Terms]string{
	"holes", "covers", "hole_rows", "overhangs", "row_edges", "column_edges", "wells", "bumps", "cells",
	"peak", "spawn", "gap_open", "gap_closed", "ready", "quad", "slots", "singles", "doubles", "notches", "halves",
	"points", "sent", "combo", "skips", "pressed", "buried", "exposed",
}

// Weights are what one unit of each term is worth, in the units of Hand.
type Weights [Terms]float32

// A Hand is an agents/search.Evaluator: terms times weights. It belongs to one agent.
type Hand struct {
	Weights Weights
	opp     opponent
	boards  batch
	terms   [Terms][8]int32 // of eight positions, which are added up side by side
	worth   [8]float32      // of those
	leaf    decision
}

// NewHand returns a Hand with the weights Tuned.
func NewHand() *Hand { return &Hand{Weights: Tuned} }

// Evaluate implements search.Evaluator: it adds up the terms of eight positions at a time.
func (h *Hand) Evaluate(states []env.State, seat int, out []float32) {
	h.opp.measure(states[0].(*blockbattle.State), seat)
	for i, state := range states {
		s := state.(*blockbattle.State)
		side := &s.Sides[seat]
		h.boards.set(i&7, &side.Cells, int(side.Solid))
		h.stock(i, side, int(s.Sides[1-seat].Pending))
		if i&7 == 7 || i+1 == len(states) {
			sums := h.sums(i&7 + 1)
			copy(out[i&^7:i+1], sums[:])
		}
	}
}

func (h *Hand) sums(n int) *[8]float32 {
	h.boards.count(&h.terms, h.opp.threat+3, n)
	mlp.SumEight(h.terms[:], h.Weights[:], &h.worth)
	for k, v := range h.worth {
		h.worth[k] = search.Clamp(v)
	}
	return &h.worth
}

// stock sets the terms of position k that do not come from its board: of a side that has sent so many rows.
func (h *Hand) stock(k int, side *blockbattle.Side, sent int) {
	k &= 7
	t := &h.terms
	t[Points][k] = side.Points
	t[Combo][k] = side.Combo
	t[Skips][k] = min(side.Skips, 4)

	room := h.opp.shape.minFree
	t[Sent][k] = int32(sent)
	t[Pressed][k] = int32(sent * features.Over(10, room))
	t[Buried][k] = features.Yes(sent > room)
}

// terms sets the terms of board k, of a side that needs so much room.
func (s *shape) terms(t *[Terms][8]int32, k, least int) {
	k &= 7
	t[Holes][k] = int32(s.holes)
	t[Covers][k] = int32(s.covers)
	t[HoleRows][k] = int32(s.holeRows)
	t[Overhangs][k] = int32(s.overhangs)
	t[RowEdges][k] = int32(s.rowEdges)
	t[ColEdges][k] = int32(s.colEdges)
	t[Wells][k] = int32(s.wells)
	t[Bumps][k] = int32(s.bumps())
	t[Cells][k] = int32(s.cells)
	t[Peak][k] = int32(features.OverSquared(10, s.minFree))
	t[Spawn][k] = int32(features.OverSquared(4, s.spawn))
	t[GapOpen][k] = int32(s.gapOpen)
	t[GapClosed][k] = int32(s.gapClosed)
	t[Ready][k] = int32(s.ready)
	t[Quad][k] = features.Yes(s.ready == 4)
	t[Slots][k] = int32(s.slots)
	t[Singles][k] = int32(s.singles)
	t[Doubles][k] = features.Yes(s.doubles > 0)
	t[Notches][k] = int32(s.notches)
	t[Halves][k] = int32(s.halves)
	t[Exposed][k] = int32(features.OverSquared(least, s.minFree))
}

// bumps is the sum of the steps between neighbouring columns, the first of the lowest columns being passed over.
func (s *shape) bumps() int {
	o := &s.open
	// Open cells are runs from row 0 on, so a step is the number of rows in which one of the two columns is open.
	sum := count(o[0]^o[1], (o[1]^o[2])&inner, o[2]^o[3], (o[3]^o[0]>>lane)&inner)
	at := uint(s.deepest) - 1
	lowest := o[0]>>at&each | o[1]>>at&each<<1 | o[2]>>at&each<<2 | o[3]>>at&each<<3
	n := &beside[bits.TrailingZeros64(lowest)&63]
	l, r := s.top(n.left), s.top(n.right)
	return sum - (s.deepest - l) - (s.deepest-r)*n.steps + size(l-r)
}

// beside has, by its bit in the lanes, the columns beside a column, and how many steps it has besides one.
var beside = func() (out [64]struct {
	left, right uint
	steps       int
}) {
	for x := uint(0); x < columns; x++ {
		n := &out[x/4*lane+x&3]
		n.left, n.right, n.steps = x-1, x+1, 1
		if x == 0 {
			n.left, n.steps = 1, 0
		}
		if x == columns-1 {
			n.right, n.steps = columns-2, 0
		}
	}
	return out
}()

func size(n int) int {
	sign := n >> (bits.UintSize - 1)
	return (n ^ sign) - sign
}

// Terms6 is a search.Evaluator made of the six terms of WinTetris's demo solver, an opponent to measure others by. The
// original rates a placement. Here a board is rated, with the same differences between lines: -500 for an empty cell
// right below a taken one, -50 for a cell (a row is 10 cells less for +500), -400 for an empty cell between two taken
// ones, -225/4 for every row of height of a cell, and nothing for points, combos, garbage or the opponent.
type Terms6 struct{}

// Evaluate implements search.Evaluator, with a rating of the seat's own side only.
func (Terms6) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		out[i] = terms6(&s.(*blockbattle.State).Sides[seat])
	}
}

func terms6(side *blockbattle.Side) float32 {
	floor := uint(blockbattle.Height) - uint(side.Solid)
	rows := uint64(1)<<floor - 1
	holes, chasms, cells, height := 0, 0, 0, 0
	for x := 0; x < blockbattle.Width; x++ {
		c := side.Cells[x] & rows
		holes += bits.OnesCount64(c << 1 & rows &^ c)
		if x > 0 && x < blockbattle.Width-1 {
			chasms += bits.OnesCount64(side.Cells[x-1] & side.Cells[x+1] & rows &^ c)
		}
		for ; c != 0; c &= c - 1 {
			cells++
			height += int(floor) - bits.TrailingZeros64(c) // 1 in the lowest row
		}
	}
	return float32(-500*holes-400*chasms-500/10*cells) - 225./4*float32(height)
}

// Tuned are the weights Hand plays with: the mean of several runs of self-play tuning, two plies deep.
var Tuned = Weights{
	Holes: -3.05, Covers: -0.833, HoleRows: -29.3, Overhangs: 10.9, RowEdges: -3.85, ColEdges: -10.6,
	Wells: -2.98, Bumps: 0.225, Cells: 3.26, Peak: -0.711, Spawn: -5.55, GapOpen: 8.63,
	GapClosed: -1.61, Ready: 0.0365, Quad: 11.2, Slots: 1.81, Singles: 14.6, Doubles: 77.4,
	Notches: -1.53, Halves: 7.42, Points: 5.94, Sent: 27.8, Combo: 6.78, Skips: 9.1, Pressed: 2.09,
	Buried: 21.5, Exposed: -2.6,
}

// A Guard is a search.Guard against the most garbage that the opponent can send with its piece of the same round.
type Guard struct{ legal []env.Action }

// NewGuard returns a Guard for one agent: it keeps memory from one call to the next.
func NewGuard() *Guard { return new(Guard) }

// Risky implements search.Guard. It lists the opponent's placements only if some stack is high enough to matter.
func (g *Guard) Risky(s env.State, seat int, children []env.State, out []bool) {
	now := s.(*blockbattle.State)
	most := mostGarbage(&now.Sides[1-seat])
	low := true
	for _, c := range children {
		low = low && room(&c.(*blockbattle.State).Sides[seat]) >= most
	}
	if low {
		return
	}
	g.legal = now.Legal(1-seat, g.legal[:0])
	threat := now.Threat(1-seat, g.legal)
	for i, c := range children {
		out[i] = threat > 0 && !c.(*blockbattle.State).Survives(seat, threat)
	}
}

// mostGarbage bounds the rows that a side can send in one round; 18 points are for an empty board.
func mostGarbage(side *blockbattle.Side) int {
	gain := max(10+int(side.Combo), 18)
	return (gain + blockbattle.PerGarbage - 1) / blockbattle.PerGarbage
}

// room is how many garbage rows a side certainly survives: free ones, less the two in which pieces appear.
func room(side *blockbattle.Side) int {
	free := blockbattle.Height - int(side.Solid)
	return min(free, bits.TrailingZeros64(side.Cells.Any())) - 2
}
