package falling

// MaxWidth is the largest width of a Field.
const MaxWidth = 12

// A Field is a board as columns of bits: bit y of Field[x] is the cell in column x, row y,
// with row 0 on top. Columns beyond the board's width stay zero.
//
// With columns instead of rows, frequent operations take a few word operations per column:
// falling is one addition (see Fall), heights and holes are bit counts, a rising row is a
// shift, and full rows are one AND.
type Field [MaxWidth]uint64

// At reports whether the cell in column x, row y is filled.
func (f *Field) At(x, y int) bool { return f[x]>>uint(y)&1 != 0 }

// Set fills the cell in column x, row y.
func (f *Field) Set(x, y int) { f[x] |= 1 << uint(y) }

// Full returns, as bits, the rows that are filled in all of the first width columns.
func (f *Field) Full(width int) uint64 {
	rows := ^uint64(0)
	for _, c := range f[:width] {
		rows &= c
	}
	return rows
}

// Any returns, as bits, the rows that have a filled cell.
func (f *Field) Any() uint64 {
	rows := uint64(0)
	for _, c := range f {
		rows |= c
	}
	return rows
}

// Clear removes the rows given as bits. The cells above each of them move down by one.
func (f *Field) Clear(rows uint64) {
	for ; rows != 0; rows &= rows - 1 {
		above := rows&-rows - 1 // bits of the rows above the topmost row to remove
		below := ^above << 1
		for x, c := range f {
			f[x] = c&below | c&above<<1
		}
	}
}

// Raise moves every row up by k. Cells that pass row 0 are lost; the rows at the bottom become empty.
func (f *Field) Raise(k int) {
	for x, c := range f {
		f[x] = c >> uint(k)
	}
}
