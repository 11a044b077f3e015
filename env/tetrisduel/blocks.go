package tetrisduel

import (
	"math/bits"
	"sort"

	"blockyard/env/falling"
)

// The sizes of the board and of the sequence (rules §2, §11).
const (
	Width      = 10
	Height     = 25
	Reachable  = 15 // rows of the mover's frame that a block can reach
	Peace      = 10 // rows of a peace zone
	Kinds      = 7
	Packages   = 80
	HalfTurns  = Kinds * Packages
	Directions = 4
)

// Letters names the blocks in the order of their numbers, which start at 1 in the rules and at 0 here.
const Letters = "IJLOSTZ"

// offsets holds the cells of every block and direction, relative to its centre (rules §3), by row
// and then column. A direction is the one before it turned clockwise about the centre.
var offsets = func() (out [Kinds][Directions][4]falling.Cell) {
	for k, first := range [Kinds][4]falling.Cell{
		{{X: -1}, {}, {X: 1}, {X: 2}},
		{{X: -1, Y: -1}, {X: -1}, {}, {X: 1}},
		{{X: 1, Y: -1}, {X: -1}, {}, {X: 1}},
		{{Y: -1}, {X: 1, Y: -1}, {}, {X: 1}},
		{{Y: -1}, {X: 1, Y: -1}, {X: -1}, {}},
		{{Y: -1}, {X: -1}, {}, {X: 1}},
		{{X: -1, Y: -1}, {Y: -1}, {}, {X: 1}},
	} {
		cells := first
		for d := range out[k] {
			sort.Slice(cells[:], func(i, j int) bool { return cells[i].Y*8+cells[i].X < cells[j].Y*8+cells[j].X })
			out[k][d] = cells
			for i, c := range cells {
				cells[i] = falling.Cell{X: -c.Y, Y: c.X}
			}
		}
	}
	return out
}()

// A twin is the first direction that covers the same cells (rules §3) if the centre is moved.
type twin struct {
	to   int
	move falling.Cell
}

var twins = func() (out [Kinds][Directions]twin) {
	for k := range offsets {
		for d, cells := range offsets[k] {
			for to := d; to >= 0; to-- {
				moved := offsets[k][to]
				by := falling.Cell{X: cells[0].X - moved[0].X, Y: cells[0].Y - moved[0].Y}
				for i := range moved {
					moved[i].X += by.X
					moved[i].Y += by.Y
				}
				if moved == cells {
					out[k][d] = twin{to, by}
				}
			}
		}
	}
	return out
}()

// permutations holds the orders of a bag (a package in the rules) in lexicographic order. A draw is an index into it.
var permutations = func() (out [5040][Kinds]uint8) {
	n := 0
	var fill func(i int, left uint8)
	var p [Kinds]uint8
	fill = func(i int, left uint8) {
		if i == Kinds {
			out[n] = p
			n++
			return
		}
		for m := left; m != 0; m &= m - 1 {
			p[i] = uint8(bits.TrailingZeros8(m))
			fill(i+1, left&^(1<<p[i]))
		}
	}
	fill(0, 1<<Kinds-1)
	return out
}()

// Draws returns the draws that produce a sequence of blocks, 0..6; ok is false if it does not consist of bags.
func Draws(blocks []uint8) (draws []uint16, ok bool) {
	for ; len(blocks) >= Kinds; blocks = blocks[Kinds:] {
		left, rank := uint32(1<<Kinds-1), 0
		for i, b := range blocks[:Kinds] {
			if left>>b&1 == 0 {
				return draws, false
			}
			left &^= 1 << b
			rank = rank*(Kinds-i) + bits.OnesCount32(left&(1<<b-1))
		}
		draws = append(draws, uint16(rank))
	}
	return draws, len(blocks) == 0
}

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

// Clear removes full rows (rules §5.2) and counts those in each zone. The board is in the mover's frame.
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

// Gain returns the points for cleared rows, without the combo (rules §6).
func Gain(peace, battle int) int { return peacePoints[peace] + battlePoints[battle] }

var (
	peacePoints  = [5]int{0, 0, 1, 2, 4}
	battlePoints = [5]int{0, 1, 2, 4, 8}
)

// Cells returns the cells of block kind in direction d, relative to its centre (rules §3).
func Cells(kind, d int) [4]falling.Cell { return offsets[kind][d] }
