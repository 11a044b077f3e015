package blockbattlebot

import (
	"math/bits"
	"slices"

	"blockyard/agents/bots/features"
	"blockyard/env/blockbattle"
	"blockyard/env/falling"
)

// slowDigs are the digLen counts, row by row.
func slowDigs(f *falling.Field, floor int) (out [digLen]int32) {
	const all = 1<<columns - 1
	row := make([]uint16, floor)
	tops := [columns]int{}
	for x := range columns {
		tops[x] = min(floor, bits.TrailingZeros64(f[x]|1<<blockbattle.Height))
		for y := range floor {
			row[y] |= uint16(f[x]>>uint(y)&1) << uint(x)
		}
	}
	later := slowLater(slices.Clone(row))
	copy(out[laterAt:], later[:])
	top, holesOfTop := -1, uint16(0)
	for y, r := range row {
		gaps, holes := all&^r, uint16(0)
		for x, t := range tops {
			if y >= t {
				holes |= gaps & (1 << uint(x))
			}
		}
		n := bits.OnesCount16(gaps)
		switch {
		case r == 0 && holes == 0 && top < 0: // the sky
		case holes != 0:
			out[holedAt+min(n, 6)-1]++
			if top < 0 {
				top, holesOfTop = y, holes
			}
		default:
			out[wholeAt+min(n, 6)-1]++
			if n >= 2 && n <= 4 && gaps>>uint(bits.TrailingZeros16(gaps)) == 1<<uint(n)-1 {
				out[runsAt+n-2]++
			} else if n >= 2 && n <= 4 {
				out[splitAt+n-2]++
			}
		}
	}
	if floor > 0 {
		out[7] = int32(columns - bits.OnesCount16(row[floor-1]))
	}
	out[6] = features.Yes(top < 0)
	if top < 0 {
		return out
	}
	first, _, _ := slowCover(row)
	least := int32(columns)
	for _, r := range row[first:top] {
		lacks := int32(columns - bits.OnesCount16(r))
		out[1] += lacks
		least = min(least, lacks)
	}
	out[0], out[2], out[3] = int32(top-first), int32(bits.OnesCount16(holesOfTop)), int32(columns-bits.OnesCount16(row[top]))
	out[4], out[5] = int32(floor-top), least
	return out
}

// slowLater are the counts about later digs: it deletes the rows of each dig. Rows are their taken cells, topmost first.
func slowLater(rows []uint16) (out [digLen - laterAt]int32) {
	for {
		first, top, holed := slowCover(rows)
		if holed == 0 {
			return out
		}
		gaps, least, columnsWithGaps := int32(0), int32(columns), uint16(0)
		for _, r := range rows[first:top] {
			lacks := int32(columns - bits.OnesCount16(r))
			gaps += lacks
			least = min(least, lacks)
			columnsWithGaps |= ^r & (1<<columns - 1)
			if out[0] == 0 && lacks >= 1 && lacks <= 3 {
				out[6+lacks]++
			}
		}
		n := int32(top - first)
		rows = slices.Delete(rows, first, top)
		out[0], out[1], out[2] = out[0]+1, out[1]+n, out[2]+gaps
		switch out[0] {
		case 1:
			_, _, after := slowCover(rows)
			out[6], out[10] = holed-after, int32(bits.OnesCount16(columnsWithGaps))
		case 2:
			out[3], out[4], out[5] = n, gaps, least
		}
	}
}

// slowCover returns the first of the rows that cover the topmost row with a hole, that row, and how many have a hole.
func slowCover(rows []uint16) (first, top int, holed int32) {
	above, holesOfTop := uint16(0), uint16(0)
	for y, r := range rows {
		if holes := above &^ r; holes != 0 {
			if holed++; holed == 1 {
				top, holesOfTop = y, holes
			}
		}
		above |= r
	}
	first = slices.IndexFunc(rows, func(r uint16) bool { return r&holesOfTop != 0 })
	return first, top, holed
}
