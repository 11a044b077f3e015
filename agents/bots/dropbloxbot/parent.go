package dropbloxbot

import (
	"math/bits"

	"blockyard/agents/bots/features"
	"blockyard/env/dropblox"
)

// counts are the features of a board as whole numbers, each times one of units; those of the score are 0. Its length
// is a multiple of 8, for vector instructions.
type counts [(Len + 7) &^ 7]int16

// Where the features of the columns and of the slots begin.
const (
	slotsAt   = 21 + 2*lacking
	heightsAt = slotsAt + 3*windows
	stepsAt   = heightsAt + dropblox.Cols
	sizesAt   = stepsAt + dropblox.Cols - 1
)

// A parent is a board with the counts of boards that have a few more squares. Beside the board are walls.
type parent struct {
	counts       counts
	columns      [dropblox.Cols + 4]column
	upTo         [dropblox.Cols + 5]sums // of the columns before a column; of wells, but for the last of them
	before       [dropblox.Cols + 1]rowSet
	after        [dropblox.Cols + 1]rowSet // this column and those to the right
	peak, middle int                       // the highest of all columns, and of those where blocks appear
	slotted      uint64                    // rows of slots
}

const left = 2 // the index of column 0 in columns and upTo

func (p *parent) set(f *Field) {
	p.count(f)
	for j := range f[:dropblox.Cols] {
		p.before[j+1] = p.before[j]
		p.before[j+1].add(p.columns[left+j])
	}
	for j := dropblox.Cols - 1; j >= 0; j-- {
		p.after[j] = p.after[j+1]
		p.after[j].add(p.columns[left+j])
	}
}

// count sets the counts of a board and what else of p does not take a list of sets.
func (p *parent) count(f *Field) {
	p.columns[left-1].taken, p.columns[left+dropblox.Cols].taken = within, within
	p.peak, p.middle = 0, 0
	var s sums
	var rows rowSet
	a, x := p.columns[left-1], uint64(0)
	for j, taken := range f[:dropblox.Cols] {
		b := columnOf(taken)
		p.columns[left+j], p.upTo[left+j] = b, s
		s.squares += b.squares()
		s.inside += b.inside()
		s.pairs += pair(a, b)
		if j > 0 {
			s.pairs += p.counts.step(j, b.height-a.height)
			s.wells += depths(x & taken &^ a.taken)
		}
		p.counts[heightsAt+j] = int16(b.height)
		p.peak, p.middle = highest(p.peak, p.middle, j, b.height)
		rows.add(b)
		a, x = b, a.taken
	}
	p.upTo[left+dropblox.Cols] = s
	s.wells += depths(x &^ a.taken)
	s.pairs += ones(a.taken ^ within)
	p.upTo[left+dropblox.Cols+1], p.upTo[left+dropblox.Cols+2] = s, s
	p.counts.set(&s, &rows, p.peak, p.middle)
	p.slotted = p.counts.slots(f, rows.slots())
}

// look writes the counts of a board that has more squares in columns lo to end-1, and is the same elsewhere.
func (p *parent) look(f *Field, lo, end int, out *counts) {
	*out = p.counts
	whole, columns := &p.upTo[left+dropblox.Cols+1], p.columns[lo:end+4]
	from, to, past := &p.upTo[left+lo], &p.upTo[left+end], &p.upTo[left+end+1]
	s := sums{
		squares: whole.squares - to.squares + from.squares, inside: whole.inside - to.inside + from.inside,
		pairs: whole.pairs - past.pairs + from.pairs, wells: whole.wells - p.upTo[left+end+2].wells + from.wells,
	}
	rows, peak, middle, block := p.before[lo], p.peak, p.middle, uint64(0)
	a, x := columns[1], columns[0].taken
	for j := lo; j < end; j++ {
		b := columnOf(f[j])
		s.squares += b.squares()
		s.inside += b.inside()
		s.pairs += pair(a, b)
		if j > 0 {
			s.pairs += out.step(j, b.height-a.height)
		}
		out[heightsAt+j] = int16(b.height)
		peak, middle = highest(peak, middle, j, b.height)
		rows.add(b)
		block |= b.taken ^ p.columns[left+j].taken
		s.wells += depths(x & b.taken &^ a.taken)
		a, x = b, a.taken
	}
	b := p.columns[left+end]
	s.pairs += pair(a, b)
	if end < dropblox.Cols {
		s.pairs += out.step(end, b.height-a.height)
	}
	s.wells += depths(x&b.taken&^a.taken) + depths(a.taken&p.columns[left+end+1].taken&^b.taken)
	rows.join(&p.after[end])
	out.set(&s, &rows, peak, middle)
	if r := rows.slots(); r&block != 0 || p.slotted&^r != 0 { // otherwise the slots are the same
		out.slots(f, r)
	}
}

// highest returns the greatest height of all columns, and of those where blocks appear, with column j of height h.
func highest(peak, middle, j, h int) (int, int) {
	peak = max(peak, h)
	if h > middle && j >= 4 && j <= 8 {
		middle = h
	}
	return peak, middle
}

// step sets the step from column j-1 to column j and returns what it contributes to pairs.
func (c *counts) step(j, difference int) uint64 {
	t := &steps[difference&127]
	c[stepsAt+j-1], c[sizesAt+j-1] = t.signed, t.size
	return t.pair
}

func (c *counts) set(s *sums, rows *rowSet, peak, middle int) {
	c[0] = int16(s.pairs) - 2*dropblox.Rows
	c[1] = int16(s.inside) - dropblox.Cols
	c[2] = int16(s.inside >> holesAt)
	c[3] = int16(s.wells)
	c[4] = int16(bits.OnesCount64(rows.holed))
	c[5] = int16(s.inside >> coversAt)
	c[6] = int16(s.inside >> coveredAt)
	c[7] = int16(peak)
	c[8] = int16(s.squares)
	c[9] = int16(s.squares >> squareOf)
	c[10] = int16(s.pairs >> bumpsAt)
	c[11] = int16(s.pairs >> cliffsAt)
	c[12] = int16(middle)
	c[13] = int16(s.squares >> takenAt)
	c[14] = int16(features.Over(peak, 14))
	c[15] = int16(features.Over(peak, 19))
	c[16] = int16(s.pairs >> besideAt)
	open := rows.used &^ rows.holed
	for k := 1; k <= lacking; k++ {
		c[20+k] = int16(bits.OnesCount64(open & rows.lacks[k-1] &^ rows.lacks[k]))
		c[20+lacking+k] = int16(bits.OnesCount64(rows.used &^ rows.lacks[k]))
	}
}

// A rowSet is what the rows of some columns are.
type rowSet struct {
	lacks [lacking + 1]uint64 // rows with more than k squares missing
	holed uint64              // rows with holes
	used  uint64              // rows with taken squares
}

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

func columnOf(taken uint64) (c column) {
	c.taken, c.open = taken, open(taken)
	c.holes = within &^ (taken | c.open)
	c.height = dropblox.Rows - bits.TrailingZeros64(taken|1<<dropblox.Rows)
	return c
}

func (c column) squares() uint64 {
	return uint64(c.height*c.height)<<squareOf + uint64(c.height) + ones(c.taken)<<takenAt
}

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

const longestSlot = 9 // bounds the rows that a slot counts

// slots sets, for windows of 1, 2, … neighbouring columns, how many rows the longest slot has, what removing them at
// once would make, and how many squares are missing in it. Of slots as long the one that lacks the fewest counts, and
// in one place the lowest. rows are those that can be in a slot; it returns those that are in one.
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
