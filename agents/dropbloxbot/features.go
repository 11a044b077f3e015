package dropbloxbot

import (
	"fmt"
	"math/bits"

	"blockyard/env/dropblox"
)

// What the features tell apart: shafts, gaps and rows that lack squares up to these.
const (
	firstShaft, lastShaft = 2, 8
	firstGap, lastGap     = 2, 6
	lacking               = 4
)

// FeatureNames names what a net reads of a board and its score, in order.
var FeatureNames = func() (out []string) {
	out = append(out, "row edges", "column edges", "holes", "wells", "rows with holes", "covers", "covered",
		"peak", "heap", "heap squared", "bumps", "cliffs", "middle", "taken", "tower", "alarm")
	list := func(name string, from, to int) {
		for k := from; k <= to; k++ {
			out = append(out, fmt.Sprintf("%s %d", name, k))
		}
	}
	list("short of", 1, lacking)
	list("shaft", firstShaft, lastShaft)
	list("gap", firstGap, lastGap)
	out = append(out, "score", "mean size", "small", "large", "sealed")
	list("rows but for", 1, lacking)
	list("column height", 0, dropblox.Cols-1)
	list("column step", 1, dropblox.Cols-1)
	list("column step size", 1, dropblox.Cols-1)
	return out
}()

// Len is how many features there are.
const Len = 16 + 2*lacking + lastShaft - firstShaft + 1 + lastGap - firstGap + 1 + 5 + 3*dropblox.Cols - 2

// steepest is what a step from a column to the next counts at most.
const steepest = 6

// Look writes the features of a board at a score to out, which has length Len; each is about
// -1 to 2.
//
// Edges, holes and wells are those of the hand-tuned rating, less what an empty board has.
// Covers are taken squares above the lowest hole of their column; covered is columns with
// holes; sealed is holes that nothing leads to from above, not even sideways. The peak is
// the highest column, the heap all heights together, the middle the highest of the columns
// where blocks appear, the tower and the alarm what the peak has above 14 and 19 rows.
// Bumps are steps between columns; cliffs what they have above 3.
//
// A row is short of k if k squares are missing and all are open from above; a shaft is a
// run of rows short of the same one square, a gap of the same two neighbours: the features
// say whether the longest has k rows. Rows but for k have up to k squares missing, holes or
// not. Heights of columns and the steps between them, signed and not, come last.
//
// Blocks drawn at the score have a mean size; small and large are the chances that one is
// drawn among those of up to five, and of up to ten squares.
func Look(f *Field, points int, out []float32) {
	out = out[:Len]
	var v view
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
	v.rows(f, out[16:16+lacking], out[16+lacking:])
	out = out[16+lacking+lastShaft-firstShaft+1+lastGap-firstGap+1:]
	d := &drawnAt[len(drawnAt)-1]
	if points < len(drawnAt) {
		d = &drawnAt[points]
	}
	copy(out, d[:])
	out[4] = float32(v.sealed(f)) * 0.1
	for k := 1; k <= lacking; k++ {
		out[4+k] = float32(bits.OnesCount64(v.used&^v.lacks[k])) * 0.15
	}
	v.outline(out[5+lacking:])
}

// rows writes how many rows are short of 1, 2, … squares, and how long the longest shaft and
// the longest gap are.
func (v *view) rows(f *Field, short, runs []float32) {
	var lack [lacking]uint64
	for k := range lack {
		lack[k] = v.lacks[k] &^ v.lacks[k+1] &^ v.holed & v.used
		short[k] = float32(bits.OnesCount64(lack[k])) * 0.2
	}
	shaft, gap := longest(f, lack[0], lack[1])
	at := 0
	for k := firstShaft; k <= lastShaft; k++ {
		runs[at] = flag(shaft >= k)
		at++
	}
	for k := firstGap; k <= lastGap; k++ {
		runs[at] = flag(gap >= k)
		at++
	}
}

// outline writes the heights and the steps.
func (v *view) outline(out []float32) {
	const n = dropblox.Cols - 1
	for j, h := range v.heights {
		out[j] = float32(h) * 0.06
		if j == 0 {
			continue
		}
		step := h - v.heights[j-1]
		if step > steepest {
			step = steepest
		} else if step < -steepest {
			step = -steepest
		}
		out[n+j] = float32(step) * 0.2
		if step < 0 {
			step = -step
		}
		out[2*n+j] = float32(step) * 0.2
	}
}

func flag(on bool) float32 {
	if on {
		return 1
	}
	return 0
}

func above(v, limit int) float32 {
	if v <= limit {
		return 0
	}
	return float32(v - limit)
}

// drawnAt is what the features say of the score alone, for scores up to its length.
var drawnAt = func() (out [1600][4]float32) {
	for s := range out {
		c := dropblox.Chances(s)
		out[s] = [4]float32{float32(s) / 500, float32(dropblox.MeanSize(s)-4.4) / 3, float32(c[0]), float32(c[5]) * 2}
	}
	return out
}()
