package dropbloxbot

import (
	"math/bits"

	"blockyard/env/dropblox"
)

// The counts of a column are packed into words, so that those of a board are sums of words, and those of a board that
// differs in a few columns are the sums less what these columns had plus what they have.
const (
	// edgesOf: changes along the rows, changes down the columns, holes, wells; 16 bits each.
	columnEdge, hole, well = 16, 32, 48
	// squaresOf: taken squares, covers, height, covered; 12 bits each, then the square of the height.
	cover, heap, covered, square = 12, 24, 36, 48
	// stepsOf: bumps, cliffs, holes beside open squares; 16 bits each.
	cliff, beside = 16, 32
)

// edgesOf packs the counts of column c between two others or walls. The edges along the rows are those on its left.
func edgesOf(left, c, right uint64) uint64 {
	n := ones(left^c) + ones(c^(c>>1|1<<(dropblox.Rows-1)))<<columnEdge + ones(within&^(c|open(c)))<<hole
	if w := left & right &^ c; w != 0 {
		n += depths(w) << well
	}
	return n
}

// depths returns, over all runs of bits, the sum of 1 + 2 + … + length.
func depths(w uint64) (n uint64) {
	for ; w != 0; w &= w << 1 {
		n += ones(w)
	}
	return n
}

func ones(w uint64) uint64 { return uint64(bits.OnesCount64(w)) }

// open returns the empty squares above the topmost taken one of a column, and more below the board if there is none.
func open(c uint64) uint64 { return c&-c - 1 }

// squaresOf packs the counts of column c alone, and returns its height.
func squaresOf(c uint64) (n uint64, height int) {
	height = dropblox.Rows - bits.TrailingZeros64(c|1<<dropblox.Rows)
	n = ones(c) + uint64(height)<<heap + uint64(height*height)<<square
	if holes := within &^ (c | open(c)); holes != 0 {
		n += 1<<covered + ones(c&(1<<uint(63-bits.LeadingZeros64(holes))-1))<<cover
	}
	return n, height
}

// stepsOf packs the counts between columns a and b, whose heights are given.
func stepsOf(a, b uint64, high, next int) uint64 {
	step := high - next
	if step < 0 {
		step = -step
	}
	n := uint64(step)
	if step > 3 {
		n += uint64(step-3) << cliff
	}
	x, y := open(a)&within, open(b)&within
	return n + (ones(within&^(a|x)&y)+ones(within&^(b|y)&x))<<beside
}

// A rowSet is what the rows of some columns are.
type rowSet struct {
	lacks [lacking + 1]uint64 // rows with more than k squares missing
	holed uint64              // rows with holes
	used  uint64              // rows with taken squares
}

// add adds column c.
func (r *rowSet) add(c uint64) {
	missing := within &^ c
	r.lacks[4] |= r.lacks[3] & missing
	r.lacks[3] |= r.lacks[2] & missing
	r.lacks[2] |= r.lacks[1] & missing
	r.lacks[1] |= r.lacks[0] & missing
	r.lacks[0] |= missing
	r.used |= c
	r.holed |= missing &^ open(c)
}

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

// A view is what is found in the columns of a board.
type view struct {
	rowSet
	heights               [dropblox.Cols]int
	edges, squares, steps uint64 // sums of edgesOf, squaresOf and stepsOf
	peak, middle          int    // the highest of all columns, and of those where blocks appear
}

// from16 and from12 return the packed number that begins at a bit.
func from16(n uint64, at uint) int { return int(n >> (at & 63) & (1<<16 - 1)) }
func from12(n uint64, at uint) int { return int(n >> (at & 63) & (1<<12 - 1)) }

// scan sets v for a board.
func (v *view) scan(f *Field) {
	var sums edgeSums
	sums.set(f)
	*v = view{edges: sums.whole}
	for j, c := range f[:dropblox.Cols] {
		v.add(c)
		n, h := squaresOf(c)
		v.squares += n
		v.heights[j] = h
		v.top(j, h)
		if j > 0 {
			v.steps += stepsOf(f[j-1], c, v.heights[j-1], h)
		}
	}
}

// top raises the highest columns to column j of height h.
func (v *view) top(j, h int) {
	if h > v.peak {
		v.peak = h
	}
	if h > v.middle && j >= 4 && j <= 8 {
		v.middle = h
	}
}

// edgeSums adds up the edges of a board and of boards that differ from it in a few columns.
type edgeSums struct {
	whole uint64
	upTo  [dropblox.Cols + 1]uint64 // of the columns to the left of each
	right uint64                    // edges at the right wall
}

func (e *edgeSums) set(f *Field) {
	*e = edgeSums{}
	left, c := uint64(within), f[0]
	for j := range f[:dropblox.Cols] {
		right := uint64(within)
		if j+1 < dropblox.Cols {
			right = f[j+1]
		}
		e.upTo[j+1] = e.upTo[j] + edgesOf(left, c, right)
		left, c = c, right
	}
	e.right = ones(left ^ within)
	e.whole = e.upTo[dropblox.Cols] + e.right
}

// of returns the sum for a board that differs in columns lo to end-1 only.
func (e *edgeSums) of(f *Field, lo, end int) uint64 {
	left := uint64(within)
	if lo--; lo < 0 {
		lo = 0
	}
	if lo > 0 {
		left = f[lo-1]
	}
	if end++; end > dropblox.Cols {
		end = dropblox.Cols
	}
	sum := e.whole - e.upTo[end] + e.upTo[lo] + ones(f[dropblox.Cols-1]^within) - e.right
	for j := lo; j < end; j++ { // edgesOf, written out: a call costs as much
		c, right := f[j], uint64(within)
		if j+1 < dropblox.Cols {
			right = f[j+1]
		}
		sum += ones(left^c) + ones(c^(c>>1|1<<(dropblox.Rows-1)))<<columnEdge + ones(within&^(c|open(c)))<<hole
		if w := left & right &^ c; w != 0 {
			sum += depths(w) << well
		}
		left = c
	}
	return sum
}

// A parent is a board with the views of boards that have a few more squares.
type parent struct {
	view
	sums    edgeSums
	squares [dropblox.Cols]uint64     // squaresOf each column
	steps   [dropblox.Cols + 1]uint64 // stepsOf each column and the one before; 0 at both walls
	before  [dropblox.Cols + 1]rowSet // the columns to the left of a column
	after   [dropblox.Cols + 1]rowSet // this column and those to the right
}

func (p *parent) set(f *Field) {
	p.scan(f)
	p.sums.set(f)
	for j, c := range f[:dropblox.Cols] {
		p.squares[j], _ = squaresOf(c)
		if j > 0 {
			p.steps[j] = stepsOf(f[j-1], c, p.heights[j-1], p.heights[j])
		}
		p.before[j+1] = p.before[j]
		p.before[j+1].add(c)
	}
	for j := dropblox.Cols - 1; j >= 0; j-- {
		p.after[j] = p.after[j+1]
		p.after[j].add(f[j])
	}
}

// look sets v for a board that has more squares in columns lo to end-1, and is the same elsewhere.
func (p *parent) look(v *view, f *Field, lo, end int) {
	*v = p.view
	v.edges = p.sums.of(f, lo, end)
	v.rowSet = p.before[lo]
	for j := lo; j < end; j++ {
		n, h := squaresOf(f[j])
		v.add(f[j])
		v.squares += n - p.squares[j]
		v.heights[j] = h
		v.top(j, h)
	}
	v.join(&p.after[end])
	for j := lo; j <= end; j++ {
		if j > 0 && j < dropblox.Cols {
			v.steps += stepsOf(f[j-1], f[j], v.heights[j-1], v.heights[j]) - p.steps[j]
		}
	}
}
