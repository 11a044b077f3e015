package dropbloxbot

import (
	"math/bits"

	"blockyard/env/dropblox"
)

// longestSlot bounds the rows that a slot counts.
const longestSlot = 9

// slots sets, for windows of 1, 2, … neighbouring columns, how many rows the longest slot
// has, what removing them at once would make, and how many squares are missing in it. Of
// slots as long the one that lacks the fewest counts, and in one place the lowest. rows are those that can be in
// a slot; it returns those that are in one.
func (c *counts) slots(f *Field, rows uint64) (in uint64) {
	const n = dropblox.Cols
	out := c[slotsAt : slotsAt+3*windows]
	for k := range out {
		out[k] = 0
	}
	if rows == 0 {
		return 0
	}
	var left, right [n + 1]uint64 // rows that are full up to, and from, a column
	left[0], right[n] = rows, within
	for j := 0; j < n; j++ {
		left[j+1] = left[j] & f[j]
		right[n-1-j] = right[n-j] & f[n-1-j]
	}
	for w := 1; w <= windows; w++ {
		length, missing := 0, 0
		for j := 0; j+w <= n && left[j] != 0; j++ {
			m := left[j] & right[j+w]
			in |= m
			if m == 0 || bits.OnesCount64(m) < length {
				continue
			}
			k, slot := lowestRun(m)
			if k < length {
				continue
			}
			lack := 0
			for _, c := range f[j : j+w] {
				lack += bits.OnesCount64(slot &^ c)
			}
			if k > length || lack < missing {
				length, missing = k, lack
			}
		}
		out[w-1] = int16(length)
		out[windows+w-1] = int16(1)<<uint(length) - 1
		out[2*windows+w-1] = int16(missing)
	}
	return in
}

// lowestRun returns the longest run of ones in m, which is not 0, and its length: of runs as
// long the one of the highest bits, of a run longer than longestSlot its highest bits.
func lowestRun(m uint64) (length int, run uint64) {
	end := m
	for ; m != 0 && length < longestSlot; m &= m << 1 {
		end = m
		length++
	}
	last := uint(63 - bits.LeadingZeros64(end))
	return length, uint64(1<<uint(length)-1) << (last + 1 - uint(length))
}
