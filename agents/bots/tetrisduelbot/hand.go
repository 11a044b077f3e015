package tetrisduelbot

import (
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// A Term is a property of a position to which Hand gives a weight, as an index of Weights.
type Term int

// The terms: each is the seat's number less the opponent's. Those of the board are counts of shape.
const (
	Lead     Term = iota // points
	Holes                // holes
	Covers               // cells above the lowest hole of their column
	RowEdges             // changes between taken and empty along the rows
	ColEdges             // and down the columns
	Wells                // depth of the wells, the k-th cell of one counting k
	Bumps                // steps between neighbouring columns
	Open                 // open cells of all columns together
	Heap                 // squares of the columns' heights
	Peak                 // square of the rows by which the highest column is above row 10
	Danger               // square of the rows by which it is above row 4
	Clean1               // clean battle rows that lack one cell
	Clean2               // two
	Clean3               // three
	Clean4               // four
	Calm                 // clean peace rows that lack one cell
	Kinds                // kinds of block that could take a battle row at once
	Now                  // what the seat to move gains with its block, dropped straight: points and combo
	Next                 // the same for the other seat, with its block after that
	Later                // the same for the seat to move, with its block after that
	Carry                // combo, for the seat to move if it can take a battle row at once, for the other if not
	Terms                // how many there are
)

// TermNames are the names of the terms in files of weights and tables, in the order of the constants.
var TermNames = [Terms]string{
	"lead", "holes", "covers", "row_edges", "column_edges", "wells", "bumps", "open", "heap", "peak", "danger",
	"clean1", "clean2", "clean3", "clean4", "calm", "kinds", "now", "next", "later", "carry",
}

// Weights are what one unit of each term is worth, in the units of Hand.
type Weights [Terms]float32

// A Hand is a search.Evaluator: terms times weights. Near the end, all terms but points lose weight.
type Hand struct {
	Weights Weights
	reader  FeatureReader
	terms   [Terms][8]int32 // of eight positions, which are added up side by side
	worth   [8]float32      // of those
}

// NewHand returns a Hand with the weights Tuned.
func NewHand() *Hand { return &Hand{Weights: Tuned} }

const fade = 40 // the number of half-turns at the end in which the terms other than points lose weight

// Evaluate implements search.Evaluator: it adds up the terms of eight positions at a time, as the seat to move, and
// turns the sign for the other.
func (h *Hand) Evaluate(states []env.State, seat int, out []float32) {
	h.reader.begin(states[0].(*tetrisduel.State))
	for i, state := range states {
		s := state.(*tetrisduel.State)
		h.reader.measure(s)
		h.fill(i, s, &h.reader.own, &h.reader.opp)
		if i&7 == 7 || i+1 == len(states) {
			sums := h.sums(s)
			copy(out[i&^7:i+1], sums[:])
		}
	}
	if h.reader.seat != seat {
		for i, v := range out[:len(states)] {
			out[i] = -v
		}
	}
}

// sums is the worth of the eight positions to the seat that has just moved. The half-turn is that of s.
func (h *Hand) sums(s *tetrisduel.State) *[8]float32 {
	mlp.SumEight(h.terms[Lead+1:], h.Weights[Lead+1:], &h.worth)
	left := halfTurnsLeft(s)
	for k, v := range h.worth {
		if left < fade {
			v *= float32(left) / fade
		}
		h.worth[k] = search.Clamp(v + float32(float32(h.terms[Lead][k])*h.Weights[Lead]))
	}
	return &h.worth
}

// fill sets the terms of position k, of s for the seat that has just moved, whose board is a; b is that of the other.
func (h *Hand) fill(k int, s *tetrisduel.State, a, b *shape) {
	k &= 7
	r, t := &h.reader, &h.terms
	t[Lead][k] = int32(s.Points[r.seat] - s.Points[1-r.seat])
	t[Holes][k] = int32(a.holes - b.holes)
	t[Covers][k] = int32(a.covers - b.covers)
	t[RowEdges][k] = int32(a.rowEdges - b.rowEdges)
	t[ColEdges][k] = int32(a.colEdges - b.colEdges)
	t[Wells][k] = int32(a.wells - b.wells)
	t[Bumps][k] = int32(a.bumps - b.bumps)
	t[Open][k] = int32(a.open - b.open)
	t[Heap][k] = int32(a.heap - b.heap)
	t[Peak][k] = int32(features.OverSquared(10, a.minFree) - features.OverSquared(10, b.minFree))
	t[Danger][k] = int32(features.OverSquared(4, a.minFree) - features.OverSquared(4, b.minFree))
	t[Clean1][k] = int32(a.clean[0] - b.clean[0])
	t[Clean2][k] = int32(a.clean[1] - b.clean[1])
	t[Clean3][k] = int32(a.clean[2] - b.clean[2])
	t[Clean4][k] = int32(a.clean[3] - b.clean[3])
	t[Calm][k] = int32(a.calm[0] - b.calm[0])
	t[Kinds][k] = int32(a.taking(1) - b.taking(1))
	t[Now][k] = -promise(b, r.oppBlocks[0], int(s.Combo))
	t[Next][k] = promise(a, r.ownBlocks[0], int(s.Combo))
	t[Later][k] = -promise(b, r.oppBlocks[1], int(s.Combo))
	t[Carry][k] = int32(s.Combo)
	if w, _ := b.take(r.oppBlocks[0]); w > 0 {
		t[Carry][k] = -t[Carry][k]
	}
}

// promise is what a seat gains if it drops a block straight now.
func promise(s *shape, kind, combo int) int32 {
	w, points := s.take(kind)
	if w > 0 {
		points += combo
	}
	return int32(points)
}

// taking is how many kinds of block could take so many battle rows at once.
func (s *shape) taking(battle int) (n int) {
	for _, w := range s.takes {
		if int(w) >= battle {
			n++
		}
	}
	return n
}

// Tuned are the weights Hand plays with: the mean of three runs of self-play tuning, two plies deep.
var Tuned = Weights{
	Lead: 1, Holes: -0.274, Covers: 0.405, RowEdges: -1.09, ColEdges: -1.16, Wells: -1.83,
	Bumps: 0.208, Open: 6.63, Heap: -0.404, Peak: -0.00844, Danger: 1.11, Clean1: 0.0465,
	Clean2: 1.38, Clean3: -0.279, Clean4: 0.00743, Calm: -0.374, Kinds: 3.22, Now: 17.2, Next: -0.803,
	Later: 1.81, Carry: 0.377,
}
