package tetrisduel

import (
	"math/bits"

	"blockyard/env/falling"
)

// Turned returns a board turned by 180 degrees: one seat's frame from the other's.
func Turned(b *falling.Field) (out falling.Field) {
	for x := 0; x < Width; x++ {
		out[Width-1-x] = bits.Reverse64(b[x]) >> (64 - Height)
	}
	return out
}

// Put fills the cells of a block. The board is in the mover's frame.
func Put(board *falling.Field, kind int, p Placement) {
	for _, c := range offsets[kind][p.D] {
		board.Set(p.X+int(c.X), p.Y+int(c.Y))
	}
}

// Clear removes full rows (rules §6) and returns how many were in the peace zone and in the
// battle zone. The board is in the mover's frame.
func Clear(board *falling.Field) (peace, battle int) {
	full := board.Full(Width) & within
	if full == 0 {
		return 0, 0
	}
	peace = bits.OnesCount64(full & (1<<Peace - 1))
	battle = bits.OnesCount64(full >> Peace)
	if battle > 0 {
		full |= within &^ board.Any()
	}
	board.Clear(full)
	return peace, battle
}

// Gain returns the points for cleared rows, without the combo (rules §7).
func Gain(peace, battle int) int {
	return peacePoints[peace] + battlePoints[battle]
}

var (
	peacePoints  = [5]int{0, 0, 1, 2, 4}
	battlePoints = [5]int{0, 1, 2, 4, 8}
)

// Cells returns the cells of block kind in direction d, relative to its centre (rules §3).
func Cells(kind, d int) [4]falling.Cell { return offsets[kind][d] }
