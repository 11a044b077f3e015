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

// pieces holds the orientations of every piece. minX is the leftmost column and maxY the lowest
// row of an orientation's cells in the box.
var pieces, minX, maxY = orient()

func orient() (pieces [Pieces]falling.Piece, minX, maxY [Pieces][4]int) {
	for p, b := range boxes {
		turns := 4
		if p == O {
			turns = 1
		}
		var oriented [][]falling.Cell
		cells := b.cells
		for o := 0; o < 4; o++ {
			if o < turns {
				oriented = append(oriented, append([]falling.Cell(nil), cells[:]...))
			}
			minX[p][o], maxY[p][o] = 9, 0
			for i, c := range cells {
				if int(c.X) < minX[p][o] {
					minX[p][o] = int(c.X)
				}
				if int(c.Y) > maxY[p][o] {
					maxY[p][o] = int(c.Y)
				}
				if p != O {
					cells[i] = falling.Cell{X: int8(b.n) - 1 - c.Y, Y: c.X} // clockwise, rules §3
				}
			}
		}
		pieces[p] = falling.NewPiece(b.n, oriented...)
	}
	return pieces, minX, maxY
}

// SpawnX returns the column of the box's left edge where a piece appears. Its top edge is in
// row -1.
func SpawnX(piece int) int { return (Width - boxes[piece].n) / 2 }

// Box returns piece's orientation rot, 0..3: the side of its box and its cells in the box, which the
// caller must not change.
func Box(piece, rot int) (side int, cells []falling.Cell) {
	p := &pieces[piece]
	return p.Size, p.Cells[rot%p.Turns]
}
