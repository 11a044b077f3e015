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
	var n [Measures]float64
	for i, m := range moves {
		measure(f, top, m, &n)
		sum := 0.0
		for k := range n {
			sum += p[k] * n[k]
		}
		out[i] = sum
	}
}

// measure writes the measures of a placement within f, whose highest column has height top.
func measure(f *wintetris.Field, top int, b wintetris.Block, out *[Measures]float64) {
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
	countField(&g, max(top, b.Top()+1)-rows, out)
}

const full = 1<<wintetris.Width - 1 // a row

// Four rows in one word, as Field.Window returns them: a number of 16 bits times lanes is in each of the rows.
const lanes = 1<<48 | 1<<32 | 1<<16 | 1

// countField writes the measures of a field whose highest column has height top, four rows at a time.
func countField(f *wintetris.Field, top int, out *[Measures]float64) {
	var above, covered, open, higher, lower, higher2, lower2 uint64 // of the four rows above
	// Columns whose right neighbour is higher, or lower, by at least 1, 2 and 3.
	var up, down [3]uint64
	var wells [wintetris.Height / 4]uint64
	words := (top + 3) / 4
	across, along, holes, depth, holeRows := 2*(wintetris.Height-4*words), 0, 0, 0, 0
	for k := words - 1; k >= 0; k-- {
		w := f.Window(4 * k)
		along += bits.OnesCount64(w ^ down1(w, above))
		walled := w<<1 | lanes | lanes<<(wintetris.Width+1)
		across += bits.OnesCount64((walled ^ walled>>1) & ((full<<1 | 1) * lanes))
		above = w

		c := w | w>>16
		covered = c | c>>32 | covered&0xFFFF*lanes
		under := covered &^ w
		holes += bits.OnesCount64(under)
		holeRows += bits.OnesCount64((under + 0x7FFF*lanes) & (0x8000 * lanes)) // rows that are not 0 carry

		// An empty cell between filled ones begins a well, which goes on down to the next filled cell.
		free := ^w & (full * lanes)
		two := free & down1(free, ^uint64(0))
		well := walled & (walled >> 2) & free
		well |= free & (well >> 16)
		well |= two & (well >> 32)
		open = well | two&down1(down1(two, ^uint64(0)), ^uint64(0))&(open&0xFFFF*lanes)
		wells[k] = open

		h, l := covered>>1&^covered&(full>>1*lanes), covered&^(covered>>1)&(full>>1*lanes)
		h2, l2 := h&down1(h, higher), l&down1(l, lower)
		up[0], up[1], up[2] = up[0]|h, up[1]|h2, up[2]|h2&down1(h2, higher2)
		down[0], down[1], down[2] = down[0]|l, down[1]|l2, down[2]|l2&down1(l2, lower2)
		higher, lower, higher2, lower2 = h, l, h2, l2
	}
	along += bits.OnesCount64(full &^ (above & 0xFFFF))
	for k, grounded := 0, uint64(full); holes > 0 && k < words; k++ { // filled, with nothing empty below
		w := f.Window(4 * k)
		g := w & (w<<16 | 0xFFFF)
		g &= (g<<32 | 0xFFFFFFFF) & (grounded * lanes)
		depth += bits.OnesCount64(w &^ g)
		grounded = g >> 48
	}
	for k, n := range [...]int{across, along, holes, wellSum(wells[:words]), depth, holeRows} {
		out[int(RowTransitions)+k] = float64(n)
	}
	steps := uint64(0)
	for _, columns := range [...]uint64{full >> 1 * lanes &^ (fold(up[0]) | fold(down[0])), fold(up[0]) &^ fold(up[1]),
		fold(up[1]) &^ fold(up[2]), fold(down[0]) &^ fold(down[1]), fold(down[1]) &^ fold(down[2])} {
		steps += min(columns, 1)
	}
	out[Diversity] = float64(steps)
}

// down1 returns four rows moved down by one, after the first of the rows above them.
func down1(w, above uint64) uint64 { return w>>16 | above<<48 }

// fold returns in each row the cells of all four.
func fold(w uint64) uint64 {
	w |= w >> 32
	return (w | w>>16) & 0xFFFF * lanes
}

// wellSum returns 1 + 2 + … for the depth of each well. It leaves nothing in wells.
func wellSum(wells []uint64) (sum int) {
	var open [wintetris.Height / 4]uint64
	copy(open[:], wells)
	for left := uint64(1); left != 0; { // those with at least 1, 2, … cells above them, themselves included
		above := uint64(0)
		left = 0
		for k := len(wells) - 1; k >= 0; k-- {
			w := wells[k]
			sum += bits.OnesCount64(w)
			wells[k] = open[k] & down1(w, above)
			left |= wells[k]
			above = w
		}
	}
	return sum
}
