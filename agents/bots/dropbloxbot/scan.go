package dropbloxbot

import (
	"math/bits"

	"blockyard/agents/bots/features"
	"blockyard/env/dropblox"
)

// A rowSet is what the rows of some columns are.
type rowSet struct {
	lacks [lacking + 1]uint64 // rows with more than k squares missing
	holed uint64              // rows with holes
	used  uint64              // rows with taken squares
}

// add adds a column.
func (r *rowSet) add(c column) {
	missing := within &^ c.taken
	r.lacks[4] |= r.lacks[3] & missing
	r.lacks[3] |= r.lacks[2] & missing
	r.lacks[2] |= r.lacks[1] & missing
	r.lacks[1] |= r.lacks[0] & missing
	r.lacks[0] |= missing
	r.used |= c.taken
	r.holed |= c.holes
}

// slots returns the rows that can be in a slot.
func (r *rowSet) slots() uint64 { return r.used &^ r.holed &^ r.lacks[windows] }

// join adds the columns of s.
func (r *rowSet) join(s *rowSet) {
	a, b := &r.lacks, &s.lacks
	a[4] |= b[4] | a[3]&b[0] | a[2]&b[1] | a[1]&b[2] | a[0]&b[3]
	a[3] |= b[3] | a[2]&b[0] | a[1]&b[1] | a[0]&b[2]
	a[2] |= b[2] | a[1]&b[0] | a[0]&b[1]
	a[1] |= b[1] | a[0]&b[0]
	a[0] |= b[0]
	r.used |= s.used
	r.holed |= s.holed
}

// What is counted in columns, packed as edgesOf packs: 16 bits each.
const (
	// squares: heights, their squares, taken squares
	squareOf, takenAt = 16, 32
	// inside: edges down the columns, holes, covers, covered columns
	holesAt, coversAt, coveredAt = 16, 32, 48
	// pairs of columns: edges along the rows, bumps, cliffs, holes beside open squares
	bumpsAt, cliffsAt, besideAt = 16, 32, 48
)

// sums are the counts of some columns, and of the pairs that these make with the columns on their left.
type sums struct{ squares, inside, pairs, wells uint64 }

// A column is what is known of one: taken and open squares, holes and height.
type column struct {
	taken, open, holes uint64
	height             int
}

// columnOf returns the column of these taken squares.
func columnOf(taken uint64) (c column) {
	c.taken, c.open = taken, open(taken)
	c.holes = within &^ (taken | c.open)
	c.height = dropblox.Rows - bits.TrailingZeros64(taken|1<<dropblox.Rows)
	return c
}

// squares returns what a column contributes to sums.squares.
func (c column) squares() uint64 {
	return uint64(c.height*c.height)<<squareOf + uint64(c.height) + ones(c.taken)<<takenAt
}

// inside returns what a column contributes to sums.inside.
func (c column) inside() uint64 {
	n := ones(c.taken^(c.taken>>1|1<<(dropblox.Rows-1))) + ones(c.holes)<<holesAt
	if c.holes != 0 {
		n += 1<<coveredAt + ones(c.taken&(1<<(uint(bits.Len64(c.holes)-1)&63)-1))<<coversAt
	}
	return n
}

// A step is what is counted of the difference of two columns' heights.
type step struct {
	pair         uint64 // bumps and cliffs
	signed, size int16  // as features.Columns writes them
}

// steps has the step for a difference of less than 64 rows. Steps down are at the end.
var steps = func() (out [128]step) {
	for i := range out {
		d := (i+64)&127 - 64
		var counts [4]int32 // two heights, the step and its size
		features.Columns(0, []int{0, -d}, counts[:])
		out[i].signed, out[i].size = int16(counts[2]), int16(counts[3])
		if d < 0 {
			d = -d
		}
		out[i].pair = uint64(d)<<bumpsAt + uint64(features.Over(d, 3))<<cliffsAt
	}
	return out
}()

// pair returns what column b and the one on its left count together. Of a wall, only edges count.
func pair(a, b column) uint64 {
	return ones(a.taken^b.taken) + ones(a.holes&b.open|a.open&b.holes)<<besideAt
}

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
