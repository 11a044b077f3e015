// Package falling is what the falling-block games share: boards as columns of bits, and
// where a piece can come to rest. Sizes, pieces and spawn points are data, so that no
// game's habits are forced on another.
package falling

import "math/bits"

// MaxWidth is the widest board a Field holds.
const MaxWidth = 12

// A Field is a board as columns of bits: bit y of Field[x] is the cell in column x, row y,
// with row 0 on top. Columns beyond the board's width stay zero.
//
// Columns, not rows, because everything that is done most often to a board is then a few
// word operations a column: flooding downwards is one addition (see Flood), heights and
// holes are bit counts, a rising row is a shift, and full rows are one AND.
type Field [MaxWidth]uint64

// At reports whether the cell in column x, row y is taken.
func (f *Field) At(x, y int) bool { return f[x]>>uint(y)&1 != 0 }

// Set takes the cell in column x, row y.
func (f *Field) Set(x, y int) { f[x] |= 1 << uint(y) }

// Full returns the rows, as bits, that are taken in all of the first width columns.
func (f *Field) Full(width int) uint64 {
	rows := ^uint64(0)
	for _, c := range f[:width] {
		rows &= c
	}
	return rows
}

// Any returns the rows, as bits, that are taken in some column.
func (f *Field) Any() uint64 {
	rows := uint64(0)
	for _, c := range f {
		rows |= c
	}
	return rows
}

// Clear removes the rows given as bits; what is above each moves down by one.
func (f *Field) Clear(rows uint64) {
	for ; rows != 0; rows &= rows - 1 {
		above := rows&-rows - 1 // bits of the rows above the topmost row to go
		below := ^above << 1
		for x, c := range f {
			f[x] = c&below | c&above<<1
		}
	}
}

// Raise moves every row up by k; what passes row 0 is gone and the rows at the bottom are
// empty.
func (f *Field) Raise(k int) {
	for x, c := range f {
		f[x] = c >> uint(k)
	}
}

// Count returns how many cells are taken.
func (f *Field) Count() int {
	n := 0
	for _, c := range f {
		n += bits.OnesCount64(c)
	}
	return n
}
