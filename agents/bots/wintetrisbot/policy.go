package wintetrisbot

import (
	"math/bits"

	"blockyard/env/wintetris"
)

// A Measure is one of the features by which the literature on Tetris rates a placement (rules §15.3). The first two are
// of the piece, the others of the field after full rows are gone.
type Measure int

// The measures, in the order of their weights in the literature.
const (
	LandingHeight     Measure = iota // row of the piece's middle; the floor row is 0
	ErodedCells                      // completed rows, times the cells that the piece has in them
	RowTransitions                   // changes between filled and empty along rows; the walls are filled
	ColumnTransitions                // the same along columns; the floor is filled
	HoleCells                        // empty cells below a filled one
	BoardWells                       // 1 + 2 + … for the depth of each well
	HoleDepth                        // filled cells right above an empty one
	HoleRows                         // rows with a hole
	Diversity                        // how many of the steps -2 to 2 there are between neighbouring columns
	Measures                         // how many there are
)

// A Policy is a Rater by weights of the measures. It knows one piece: what comes next changes nothing.
type Policy [Measures]float64

// The policies of the literature: two by Scherrer et al. (2015), found by a value function for 10 and for 20 rows, and
// the one that Pierre Dellacherie set by hand.
var (
	DT10        = Policy{-2.18, 2.42, -2.17, -3.31, 0.95, -2.22, -0.81, -9.65, 1.27}
	DT20        = Policy{-2.68, 1.38, -2.41, -6.32, 2.03, -2.71, -0.43, -9.48, 0.89}
	Dellacherie = Policy{-1, 1, -1, -1, -4, -1, 0, 0, 0}
)

// Rate implements Rater: the weighted sum of the measures of each placement.
func (p *Policy) Rate(f *wintetris.Field, moves []wintetris.Block, _ uint8, out []float64) {
	top := f.Top()
	for i, m := range moves {
		n, sum := measure(f, top, m), 0.0
		for k, v := range n {
			sum += p[k] * v
		}
		out[i] = sum
	}
}

// measure returns the measures of a placement within f, whose highest column has height top.
func measure(f *wintetris.Field, top int, b wintetris.Block) (out [Measures]float64) {
	g, cells := *f, b.Mask()
	now := f.Window(int(b.Y)) | cells
	rows := g.Put(b)
	eroded := 0
	for k := 0; rows > 0 && k < 64; k += 16 {
		if now>>k&full == full {
			eroded += bits.OnesCount64(cells >> k & full)
		}
	}
	out[LandingHeight] = float64(b.Top()+b.Bottom()) / 2
	out[ErodedCells] = float64(rows * eroded)
	countField(&g, max(top, b.Top()+1)-rows, &out)
	return out
}

const full = 1<<wintetris.Width - 1 // a row

// countField writes the measures of a field whose highest column has height top.
func countField(f *wintetris.Field, top int, out *[Measures]float64) {
	var above, covered, open uint16
	var up, down [3]uint16                // columns whose right neighbour is higher, or lower, by at least 1, 2 and 3
	var deep [wintetris.Height + 1]uint16 // columns with wells of at least 1, 2, … cells so far
	across, along, holes, wells, depth, holeRows := 2*(wintetris.Height-top), 0, 0, 0, 0, 0
	for y := top - 1; y >= 0; y-- {
		row := f[y]
		along += bits.OnesCount16(row ^ above)
		walled := row<<1 | 1 | 1<<(wintetris.Width+1)
		across += bits.OnesCount16((walled ^ walled>>1) & (full<<1 | 1))
		if under := covered &^ row; under != 0 {
			holeRows++
			holes += bits.OnesCount16(under)
		}
		covered |= row
		// An empty cell between filled ones begins a well, which goes on down to the next filled cell.
		open = (open | walled&(walled>>2)&full) &^ row
		for k, here := 0, open; here|deep[k] != 0; k++ {
			wells += bits.OnesCount16(here)
			deep[k], here = here, deep[k]&open
		}
		higher, lower := covered>>1&^covered, covered&^(covered>>1)&(full>>1)
		up[2], up[1], up[0] = up[2]|up[1]&higher, up[1]|up[0]&higher, up[0]|higher
		down[2], down[1], down[0] = down[2]|down[1]&lower, down[1]|down[0]&lower, down[0]|lower
		above = row
	}
	along += bits.OnesCount16(full &^ above)
	for y, over := 1, uint16(0); holes > 0 && y < top; y++ {
		over = f[y] & (^f[y-1] | over)
		depth += bits.OnesCount16(over)
	}
	for k, n := range [...]int{across, along, holes, wells, depth, holeRows} {
		out[int(RowTransitions)+k] = float64(n)
	}
	for _, columns := range [...]uint16{
		full >> 1 &^ (up[0] | down[0]), up[0] &^ up[1], up[1] &^ up[2], down[0] &^ down[1], down[1] &^ down[2],
	} {
		if columns != 0 {
			out[Diversity]++
		}
	}
}
