package dropbloxbot

import (
	"math/bits"

	"blockyard/env/dropblox"
)

// A view is what is found in one pass over the columns of a board.
type view struct {
	lacks                        [lacking + 1]uint64 // rows with more than k squares missing
	holed                        uint64              // rows with holes
	used                         uint64              // rows with taken squares
	heights                      [dropblox.Cols]int
	covers, covered              int
	peak, heap, squares          int
	bumps, cliffs, middle, taken int
	rowEdges, columnEdges        int
	holes, wells                 int
}

func (v *view) scan(f *Field) {
	left := uint64(within)
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
		v.taken += bits.OnesCount64(c)
		missing := within &^ c
		v.lacks[4] |= v.lacks[3] & missing
		v.lacks[3] |= v.lacks[2] & missing
		v.lacks[2] |= v.lacks[1] & missing
		v.lacks[1] |= v.lacks[0] & missing
		v.lacks[0] |= missing
		height := dropblox.Rows - bits.TrailingZeros64(c|1<<dropblox.Rows)
		if holes := missing & ((1<<uint(height) - 1) << uint(dropblox.Rows-height)); holes != 0 {
			v.holed |= holes
			v.holes += bits.OnesCount64(holes)
			v.covered++
			v.covers += bits.OnesCount64(c & (1<<uint(63-bits.LeadingZeros64(holes)) - 1))
		}
		v.heights[j] = height
	}
	v.rowEdges += bits.OnesCount64(left ^ within)
	v.surface()
}

// surface adds up the heights.
func (v *view) surface() {
	for j, h := range v.heights {
		v.heap += h
		v.squares += h * h
		if h > v.peak {
			v.peak = h
		}
		if h > v.middle && j >= 4 && j <= 8 {
			v.middle = h
		}
		if j == 0 {
			continue
		}
		step := h - v.heights[j-1]
		if step < 0 {
			step = -step
		}
		v.bumps += step
		if step > 3 {
			v.cliffs += step - 3
		}
	}
}

// beside returns how many holes have an open square next to them, which may be a way in.
func (v *view) beside(f *Field) (n int) {
	if v.holes == 0 {
		return 0
	}
	var open, before uint64 // empty squares above all taken ones of their column, here and in the column before
	var holes, holesBefore uint64
	for j, h := range v.heights {
		before, holesBefore = open, holes
		open = 1<<uint(dropblox.Rows-h) - 1
		holes = within &^ (f[j] | open)
		n += bits.OnesCount64(holesBefore&open) + bits.OnesCount64(holes&before)
	}
	return n
}
