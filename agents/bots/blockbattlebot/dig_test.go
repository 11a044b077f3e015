package blockbattlebot

import (
	"math/bits"

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
	first := floor
	for x, t := range tops {
		if holesOfTop>>uint(x)&1 != 0 {
			first = min(first, t)
		}
	}
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
