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

// left is the index of column 0 in columns and upTo.
const left = 2

// set sets p for a board.
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
	if h > peak {
		peak = h
	}
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

// set sets the counts of what is added up over columns and rows.
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
