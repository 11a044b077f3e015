package dropbloxbot

import (
	"fmt"
	"math/bits"

	"blockyard/env/dropblox"
)

// FeatureNames names what a net reads of a board and its score, in order.
var FeatureNames = func() (out []string) {
	out = append(out, "row edges", "column edges", "holes", "wells", "rows with holes", "covers", "covered",
		"peak", "heap", "heap squared", "bumps", "cliffs", "middle", "taken", "tower", "alarm",
		"short of 1", "short of 2", "short of 3", "short of 4")
	for k := firstShaft; k <= lastShaft; k++ {
		out = append(out, fmt.Sprintf("shaft %d", k))
	}
	for k := firstGap; k <= lastGap; k++ {
		out = append(out, fmt.Sprintf("gap %d", k))
	}
	return append(out, "score", "mean size", "small", "large")
}()

const (
	firstShaft, lastShaft = 2, 8
	firstGap, lastGap     = 2, 6
)

// Len is how many features there are.
const Len = 20 + lastShaft - firstShaft + 1 + lastGap - firstGap + 1 + 4

// Look writes the features of a board at a score to out, which has length Len; each is about
// 0 to 2.
//
// Edges, holes and wells are those of the hand-tuned rating, less what an empty board has.
// Covers are taken squares above the lowest hole of their column; covered is columns with
// holes. The peak is the highest column, the heap all heights together, the middle the
// highest of the columns where blocks appear, the tower and the alarm what the peak has
// above 14 and 19 rows. Bumps are steps between columns; cliffs what they have above 3.
// A row is short of k if k squares are missing and all are open from above; a shaft is a
// run of rows short of the same one square, a gap of the same two neighbours: the features
// say whether the longest has k rows. Blocks drawn at the score have a mean size; small and
// large are the chances that one is drawn among those of up to five, and of up to ten.
func Look(f *Field, points int, out []float32) {
	out = out[:Len]
	v := view{}
	v.scan(f)
	out[0] = float32(v.rowEdges-2*dropblox.Rows) * 0.03
	out[1] = float32(v.columnEdges-dropblox.Cols) * 0.03
	out[2] = float32(v.holes) * 0.1
	out[3] = float32(v.wells) * 0.03
	out[4] = float32(bits.OnesCount64(v.holed)) * 0.2
	out[5] = float32(v.covers) * 0.04
	out[6] = float32(v.covered) * 0.2
	out[7] = float32(v.peak) * 0.06
	out[8] = float32(v.heap) * 0.008
	out[9] = float32(v.squares) * 0.0006
	out[10] = float32(v.bumps) * 0.05
	out[11] = float32(v.cliffs) * 0.1
	out[12] = float32(v.middle) * 0.06
	out[13] = float32(v.taken) * 0.01
	out[14] = above(v.peak, 14) * 0.15
	out[15] = above(v.peak, 19) * 0.3
	short := [4]uint64{v.any[0] &^ v.any[1], v.any[1] &^ v.any[2], v.any[2] &^ v.any[3], v.any[3] &^ v.any[4]}
	for k := range short {
		short[k] &^= v.holed | ^v.used
		out[16+k] = float32(bits.OnesCount64(short[k])) * 0.2
	}
	shaft, gap := v.longest(f, short[0], short[1])
	at := 20
	for k := firstShaft; k <= lastShaft; k++ {
		out[at] = 0
		if shaft >= k {
			out[at] = 1
		}
		at++
	}
	for k := firstGap; k <= lastGap; k++ {
		out[at] = 0
		if gap >= k {
			out[at] = 1
		}
		at++
	}
	d := &drawnAt[len(drawnAt)-1]
	if points < len(drawnAt) {
		d = &drawnAt[points]
	}
	copy(out[at:], d[:])
}

func above(v, limit int) float32 {
	if v <= limit {
		return 0
	}
	return float32(v - limit)
}

// A view is what is found in one pass over the columns.
type view struct {
	any                          [5]uint64 // rows with more than k squares missing
	holed                        uint64    // rows with holes
	used                         uint64    // rows with taken squares
	covers, covered              int
	peak, heap, squares          int
	bumps, cliffs, middle, taken int
	rowEdges, columnEdges        int
	holes, wells                 int
}

func (v *view) scan(f *Field) {
	before, left := -1, uint64(within)
	for j := 0; j < dropblox.Cols; j++ {
		c, right := f[j], uint64(within)
		if j+1 < dropblox.Cols {
			right = f[j+1]
		}
		v.rowEdges += bits.OnesCount64(left ^ c)
		v.columnEdges += bits.OnesCount64(c ^ (c>>1 | 1<<(dropblox.Rows-1)))
		for w := left & right &^ c; w != 0; w &= w << 1 {
			v.wells += bits.OnesCount64(w)
		}
		left = c
		v.used |= c
		missing := within &^ c
		v.any[4] |= v.any[3] & missing
		v.any[3] |= v.any[2] & missing
		v.any[2] |= v.any[1] & missing
		v.any[1] |= v.any[0] & missing
		v.any[0] |= missing
		height := dropblox.Rows - bits.TrailingZeros64(c|1<<dropblox.Rows)
		v.taken += bits.OnesCount64(c)
		if holes := missing & ((1<<uint(height) - 1) << uint(dropblox.Rows-height)); holes != 0 {
			v.holed |= holes
			v.holes += bits.OnesCount64(holes)
			v.covered++
			v.covers += bits.OnesCount64(c & (1<<uint(63-bits.LeadingZeros64(holes)) - 1))
		}
		v.heap += height
		v.squares += height * height
		if height > v.peak {
			v.peak = height
		}
		if height > v.middle && j >= 4 && j <= 8 {
			v.middle = height
		}
		if before >= 0 {
			step := height - before
			if step < 0 {
				step = -step
			}
			v.bumps += step
			if step > 3 {
				v.cliffs += step - 3
			}
		}
		before = height
	}
	v.rowEdges += bits.OnesCount64(left ^ within)
}

// longest returns the longest shaft and the longest gap, given the rows short of one and of
// two squares.
func (v *view) longest(f *Field, one, two uint64) (shaft, gap int) {
	for j := 0; j < dropblox.Cols && one != 0; j++ {
		mine := one &^ f[j]
		one &^= mine
		if n := run(mine); n > shaft {
			shaft = n
		}
	}
	for j := 0; j+1 < dropblox.Cols && two != 0; j++ {
		mine := two &^ (f[j] | f[j+1])
		two &^= mine
		if n := run(mine); n > gap {
			gap = n
		}
	}
	return shaft, gap
}

// run returns the length of the longest run of ones.
func run(m uint64) (n int) {
	for ; m != 0; m &= m << 1 {
		n++
	}
	return n
}

// drawnAt is what the features say of the score alone, for scores up to its length.
var drawnAt = func() (out [1600][4]float32) {
	for s := range out {
		c := dropblox.Chances(s)
		out[s] = [4]float32{float32(s) / 500, float32(dropblox.MeanSize(s)-4.4) / 3, float32(c[0]), float32(c[5]) * 2}
	}
	return out
}()
