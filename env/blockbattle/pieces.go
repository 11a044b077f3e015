package blockbattle

import "blockyard/env/falling"

// Pieces in the order of the draw (rules §17).
const (
	I = iota
	J
	L
	O
	S
	T
	Z
	Pieces // number of kinds
)

// Letters names the pieces in that order.
const Letters = "IJLOSTZ"

// The size of the board, and when rows rise (rules §1).
const (
	Width         = 10
	Height        = 20
	SolidInterval = 15 // rounds between solid rows
	PerGarbage    = 3  // points per garbage row sent
	head          = 1  // rows above the board a box can be in: spawn is at y = -1
)

// boxes holds the orientation in which each piece appears (rules §3): side of the box, cells.
var boxes = [Pieces]struct {
	n     int
	cells [4]falling.Cell
}{
	I: {4, [4]falling.Cell{{X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}, {X: 3, Y: 1}}},
	J: {3, [4]falling.Cell{{X: 0, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
	L: {3, [4]falling.Cell{{X: 2, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
	O: {2, [4]falling.Cell{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}}},
	S: {3, [4]falling.Cell{{X: 1, Y: 0}, {X: 2, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}}},
	T: {3, [4]falling.Cell{{X: 1, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
	Z: {3, [4]falling.Cell{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
}

// pieces holds the orientations of every piece (rules §3).
var pieces = func() (out [Pieces]falling.Piece) {
	for p := range boxes {
		turns := 4
		if p == O {
			turns = 1
		}
		out[p] = falling.NewPiece(boxes[p].n, turns, boxes[p].cells[:])
	}
	return out
}()

// SpawnX returns the column of the box's left edge where a piece appears. Its top edge is in
// row -1.
func SpawnX(piece int) int { return (Width - boxes[piece].n) / 2 }

// Box returns piece's orientation rot, 0..3: the side of its box and its cells in the box, which the
// caller must not change.
func Box(piece, rot int) (side int, cells []falling.Cell) {
	p := &pieces[piece]
	return p.Size, p.Cells[rot]
}
