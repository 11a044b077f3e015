package dropbloxbot

import "blockyard/env/dropblox"

// A Term is one number that the hand-tuned rating weighs.
type Term int

// The terms: the classic six.
const (
	Landing  Term = iota // height of the block's middle where it came to rest
	Eroded               // rows removed times squares of the block in them
	RowEdges             // changes between taken and empty along the rows, walls taken
	ColEdges             // and down the columns, the floor taken
	Holes                // empty squares below a taken one of their column
	Wells                // empty squares between taken ones, the k-th of a run counting k
	Terms                // how many there are
)

// TermNames names the terms in order: in weight files and tables.
var TermNames = [Terms]string{"landing", "eroded", "row_edges", "column_edges", "holes", "wells"}

// Weights say what one of each term is worth.
type Weights [Terms]float32

// Classic are the six-feature weights known for this family of games.
var Classic = Weights{-4.5, 3.4, -3.2, -9.35, -7.9, -3.4}

// A Hand is a Rater: terms times weights. Those of a placement, landing and eroded, are added
// up along a line; those of a board count where the line leads to.
type Hand struct{ Weights Weights }

// Rate implements Rater.
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

// within is the rows of the board as bits.
const within = 1<<dropblox.Rows - 1
