package dropbloxbot

import (
	"math/bits"

	"blockyard/env/dropblox"
)

// The counts of a column are packed into words, so that those of a board are sums of words, and those of a board that
// differs in a few columns are the sums less what these columns had plus what they have. edgesOf packs changes along
// the rows, changes down the columns, holes and wells; 16 bits each.
const columnEdge, hole, well = 16, 32, 48

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

// from16 returns the packed number of 16 bits that begins at a bit.
func from16(n uint64, at uint) int { return int(n >> (at & 63) & (1<<16 - 1)) }

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
