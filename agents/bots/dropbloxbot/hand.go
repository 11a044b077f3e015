package dropbloxbot

import (
	"math/bits"

	"blockyard/env/dropblox"
)

// A Term is a property of a placement or board to which Hand gives a weight, as an index of Weights.
type Term int

const (
	Landing  Term = iota // height of the block's middle where it came to rest
	Eroded               // rows removed times squares of the block in them
	RowEdges             // changes between taken and empty along the rows, walls taken
	ColEdges             // and down the columns, the floor taken
	Holes                // empty squares below a taken one of their column
	Wells                // empty squares between taken ones, the k-th of a run counting k
	Terms                // how many there are
)

// TermNames are the names of the terms in files of weights and tables, in the order of the constants.
var TermNames = [Terms]string{"landing", "eroded", "row_edges", "column_edges", "holes", "wells"}

// Weights are what one unit of each term is worth. Only their ratios matter to a search.
type Weights [Terms]float32

var Classic = Weights{-4.5, 3.4, -3.2, -9.35, -7.9, -3.4} // the six-feature weights known for this family of games

// A Hand is a Rater: terms times weights. Landing and eroded are added up along a line, the others count at its end.
type Hand struct{ Weights Weights }

// Rate implements Rater. It sets the Line of kids to the sum of Landing and Eroded so far.
func (h *Hand) Rate(from *Board, kids []Kid, _ int, worth []float32) {
	var sums edgeSums
	sums.set(&from.Field)
	for i := range kids {
		k := &kids[i]
		lo, end := k.columns()
		n := sums.of(&k.Field, lo, end)
		w := &h.Weights
		sum := w[Landing]*(dropblox.Rows-k.Row) + w[Eroded]*float32(k.Rows*k.Eroded)
		k.Line = from.Line + sum
		worth[i] = k.Line + w[RowEdges]*float32(from16(n, 0)) + w[ColEdges]*float32(from16(n, columnEdge)) +
			w[Holes]*float32(from16(n, hole)) + w[Wells]*float32(from16(n, well))
	}
}

const within = 1<<dropblox.Rows - 1 // the rows of the board as bits

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
	if lo = max(lo-1, 0); lo > 0 {
		left = f[lo-1]
	}
	end = min(end+1, dropblox.Cols)
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
