package tetrisduel

import (
	"math/bits"

	"blockyard/env/falling"
)

// Turned returns a board turned by half: one seat's frame from the other's.
func Turned(b *falling.Field) (out falling.Field) {
	for x := 0; x < Width; x++ {
		out[Width-1-x] = bits.Reverse64(b[x]) >> (64 - Height)
	}
	return out
}

// Put fills the cells of a block on a board in the mover's frame.
func Put(board *falling.Field, kind int, p Placement) {
	for _, c := range offsets[kind][p.D] {
		board.Set(p.X+int(c.X), p.Y+int(c.Y))
	}
}

// Clear takes full rows out of a board in the mover's frame (rules §6) and returns how many
// were in the peace and in the battle zone.
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

// Gain is what cleared rows score, before the combo (rules §7).
func Gain(peace, battle int) int {
	return peacePoints[peace] + battlePoints[battle]
}

var (
	peacePoints  = [5]int{0, 0, 1, 2, 4}
	battlePoints = [5]int{0, 1, 2, 4, 8}
)

// Cells are the cells of block kind in direction d around its centre (rules §3).
func Cells(kind, d int) [4]falling.Cell { return offsets[kind][d] }
