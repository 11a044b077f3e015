package wintetrisbot

import (
	"math/bits"

	"blockyard/env/wintetris"
)

// A Term is one of the numbers that the demo solver's rating weighs (rules §13.2).
type Term int

// The terms, as they count.
const (
	Holes  Term = iota // a cell with an empty one right below
	Slots              // a cell with filled ones on both sides
	Row                // one row completed
	Rows               // a row, where several are completed
	Top                // height of the highest cell
	Bottom             // height of the lowest cell
	Chasms             // a cell between two filled ones less than before
	Terms              // how many there are
)

// TermNames names the terms in order: in weight files and tables.
var TermNames = [Terms]string{"holes", "slots", "row", "rows", "top", "bottom", "chasms"}

// Weights say what one of each term is worth. Whole numbers give whole ratings.
type Weights [Terms]float32

// Demo are the demo solver's own weights.
var Demo = Weights{Holes: -500, Slots: 0, Row: 200, Rows: 500, Top: -150, Bottom: -75, Chasms: 400}

// stuck is what the second placement is worth where there is none (rules §13.3).
const stuck = -1_000_000

// A Hand is the demo solver's Rater. It belongs to one solver.
type Hand struct {
	weights [Terms]float64
	second  [wintetris.MaxMoves]wintetris.Block
}

// NewHand returns a Hand with these weights.
func NewHand(w Weights) *Hand {
	h := &Hand{}
	for t, v := range w {
		h.weights[t] = float64(v)
	}
	return h
}

// Rate implements Rater: the rating of each placement and of the best one after it.
func (h *Hand) Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64) {
	at := wintetris.Spawn(next)
	for i, m := range moves {
		g := *f
		g.Put(m)
		best := float64(stuck)
		if g.Fits(at) {
			for _, q := range g.Distinct(at, h.second[:0]) {
				if r := h.One(&g, q); q.Inside() && r > best {
					best = r
				}
			}
		}
		out[i] = h.One(f, m) + best
	}
}

// One is the rating of one placement, b, at rest in f (rules §13.2).
func (h *Hand) One(f *wintetris.Field, b wintetris.Block) float64 {
	const lanes = 0x03FF_03FF_03FF_03FF // the columns of four rows
	cells, was := b.Mask(), f.Window(int(b.Y))
	below := f.Window(int(b.Y)-1) | cells<<16
	if b.Y <= 0 {
		below |= 1<<uint(16*(1-int(b.Y))) - 1 // nothing is missing below the floor row
	}
	w := &h.weights
	now := was | cells
	sum := w[Holes]*count(cells&^below) +
		w[Chasms]*(count(between(was)&lanes)-count(between(now)&lanes)) +
		w[Top]*float64(b.Top()+1) + w[Bottom]*float64(b.Bottom()+1)
	if w[Slots] != 0 {
		sum += w[Slots] * count(cells&(was<<1)&(was>>1))
	}
	rows := 0
	for v := now; v != 0; v >>= 16 {
		if v&0x03FF == 0x03FF {
			rows++
		}
	}
	switch {
	case rows == 1:
		sum += w[Row]
	case rows > 1:
		sum += w[Rows] * float64(rows)
	}
	return sum
}

// between is the empty cells of four rows that have filled ones on both sides.
func between(rows uint64) uint64 { return rows << 1 & (rows >> 1) &^ rows }

func count(cells uint64) float64 { return float64(bits.OnesCount64(cells)) }
