package wintetrisbot

import (
	"math/bits"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// A Term is one of the numbers that the demo solver's rating weighs (rules §13.2).
type Term int

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

// TermNames are the names of the terms in files of weights and tables, in the order of the constants.
var TermNames = [Terms]string{"holes", "slots", "row", "rows", "top", "bottom", "chasms"}

// Weights say what one of each term is worth. Whole numbers give whole ratings.
type Weights [Terms]float32

// Demo are the demo solver's own weights.
var Demo = Weights{Holes: -500, Slots: 0, Row: 200, Rows: 500, Top: -150, Bottom: -75, Chasms: 400}

const stuck = -1_000_000 // what the second placement is worth where there is none (rules §13.3)

// A Hand is the demo solver's Rater. It belongs to one solver.
type Hand struct {
	weights [Terms]float64
	second  [wintetris.MaxMoves]wintetris.Block
}

// NewHand returns a Hand that rates by these weights, such as Demo.
func NewHand(w Weights) *Hand {
	h := &Hand{}
	for t, v := range w {
		h.weights[t] = float64(v)
	}
	return h
}

// Rate implements Rater: the rating of each placement and of the best one after it.
func (h *Hand) Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64) {
	if next == unknown {
		for i, m := range moves {
			out[i] = h.One(f, m)
		}
		return
	}
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

const Len = 3*wintetris.Width - 2 + 9 // how many features there are

const steepest = 6 // what a step from a column to the next counts at most

// A FeatureReader is a features.Reader of the Len features of a field. It keeps nothing between calls.
type FeatureReader struct{}

// Shared implements features.Reader: there are no such features.
func (FeatureReader) Shared(env.State, int, []float32) {}

// Own implements features.Reader with Features: all of them differ between the afterstates of a decision.
func (FeatureReader) Own(s env.State, _ int, out []float32) {
	Features(&s.(*wintetris.State).Field, out)
}

// Features writes the features of f to out, which has length Len; each is about -1 to 2.
//
// Heights and the steps between neighbours, signed and not, come first. A hole is an empty cell
// below a filled one of its column; it is buried by as many rows as the column rises above it.
// Changes are those between filled and empty along rows, walls being filled, and down columns, the
// floor being filled. The k-th cell of a well, an open cell between filled ones or a wall, counts
// k. The peak is the highest column, the heap all of them, the tower what rises above row 10.
func Features(f *wintetris.Field, out []float32) {
	h := f.Heights()
	withHeights(f, &h, out)
}

// after writes the features of f with b in its place, and returns the rows that it completes. heights are those of f.
func after(f *wintetris.Field, heights *[wintetris.Width]int8, b wintetris.Block, out []float32) (rows int) {
	g := *f
	if rows = g.Put(b); rows > 0 {
		Features(&g, out)
		return rows
	}
	tall := *heights
	for _, c := range b.Cells() { // mostly on top of its columns, near the ceiling below something
		tall[c[0]] = max(tall[c[0]], int8(c[1]+1))
	}
	withHeights(&g, &tall, out)
	return 0
}

// withHeights is Features where the heights of the columns are known.
func withHeights(f *wintetris.Field, h *[wintetris.Width]int8, out []float32) {
	out = out[:Len]
	heap, peak := 0, 0
	for x, v := range h {
		out[x] = float32(v) * 0.1
		heap += int(v)
		peak = max(peak, int(v))
		if x > 0 {
			d := min(max(int(v)-int(h[x-1]), -steepest), steepest)
			out[9+x], out[18+x] = float32(d)*0.25, float32(max(d, -d))*0.25
		}
	}
	s := scan(f, h, peak)
	rest := out[28:]
	rest[0] = float32(s.holes) * 0.1
	rest[1] = float32(s.buried) * 0.03
	rest[2] = float32(s.holeRows) * 0.2
	rest[3] = float32(s.rowChanges) * 0.03
	rest[4] = float32(s.columnChanges) * 0.03
	rest[5] = float32(s.wells) * 0.05
	rest[6] = float32(peak) * 0.1
	rest[7] = float32(heap) * 0.01
	rest[8] = float32(max(peak-10, 0)) * 0.2
}

// sums are what is counted row by row.
type sums struct{ holes, buried, holeRows, rowChanges, columnChanges, wells int }

// scan counts rows 0 to peak-1, all that are not empty, from the top.
func scan(f *wintetris.Field, h *[wintetris.Width]int8, peak int) (s sums) {
	const all = 1<<wintetris.Width - 1
	above, covered, wells := uint16(0), uint16(0), uint16(0)
	var deep [wintetris.Width]int8 // of the well that goes on in a column
	for y := peak - 1; y >= 0; y-- {
		row := f[y]
		s.columnChanges += bits.OnesCount16(row ^ above)
		walled := row<<1 | 1 | 1<<(wintetris.Width+1)
		s.rowChanges += bits.OnesCount16((walled ^ walled>>1) & (all<<1 | 1))
		if holes := covered &^ row; holes != 0 {
			s.holeRows++
			s.holes += bits.OnesCount16(holes)
			for ; holes != 0; holes &= holes - 1 {
				s.buried += int(h[bits.TrailingZeros16(holes)]) - y - 1
			}
		}
		covered |= row
		was := wells
		wells = walled & (walled >> 2) & all &^ covered
		for w := wells; w != 0; w &= w - 1 {
			x := bits.TrailingZeros16(w)
			if was>>uint(x)&1 == 0 {
				deep[x] = 0
			}
			deep[x]++
			s.wells += int(deep[x])
		}
		above = row
	}
	s.columnChanges += bits.OnesCount16(^above & all)
	return s
}

// The net gives the rows completed from a field on, each Unit, and by Discount less for every piece it is later.
const (
	Discount = 0.97
	Unit     = 0.1
)

const lost = -1000 // the worth of a field in which the next piece cannot be put, or there is none

// A Learned is a Rater by a trained net: rows of two placements, and the worth of the field then. One solver has it.
type Learned struct {
	net  *mlp.Net
	next [wintetris.MaxMoves]wintetris.Block
	rows [wintetris.MaxMoves]float32 // completed by a placement of the next piece
	x    [wintetris.MaxMoves * Len]float32
	v    [wintetris.MaxMoves]float32
}

// NewLearned returns a Learned over net, of Len inputs and one output. Nets made by Clone may be used at the same time.
func NewLearned(net *mlp.Net) *Learned { return &Learned{net: net} }

// Rate implements Rater: the rows completed and what the field is worth with the next piece at its best place.
func (l *Learned) Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64) {
	if next == unknown {
		l.one(f, moves, out)
		return
	}
	at := wintetris.Spawn(next)
	for i, m := range moves {
		g := *f
		rows := g.Put(m)
		out[i] = lost
		if g.Fits(at) {
			out[i] = Unit*float64(rows) + Discount*l.best(&g, at)
		}
	}
}

// one is Rate where the next piece is not known.
func (l *Learned) one(f *wintetris.Field, moves []wintetris.Block, out []float64) {
	n, heights := len(moves), f.Heights()
	for i, m := range moves {
		l.rows[i] = float32(after(f, &heights, m, l.x[i*Len:(i+1)*Len]))
	}
	l.net.Forward(l.x[:n*Len], n, l.v[:n])
	for i, v := range l.v[:n] {
		out[i] = Unit*float64(l.rows[i]) + Discount*float64(v)
	}
}

// best is what the next piece's best placement brings.
func (l *Learned) best(g *wintetris.Field, at wintetris.Block) float64 {
	n, heights := 0, g.Heights()
	for _, q := range g.Distinct(at, l.next[:0]) {
		if !q.Inside() {
			continue
		}
		l.rows[n] = float32(after(g, &heights, q, l.x[n*Len:(n+1)*Len]))
		n++
	}
	l.net.Forward(l.x[:n*Len], n, l.v[:n])
	best := float64(lost)
	for k, v := range l.v[:n] {
		if w := Unit*float64(l.rows[k]) + Discount*float64(v); w > best {
			best = w
		}
	}
	return best
}
