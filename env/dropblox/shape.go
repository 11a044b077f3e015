package dropblox

import (
	"blockyard/env/falling"
)

// A Field is a set of taken squares: bit i of column j is row i.
type Field = falling.Field

// Turns is the number of quarter turns.
const Turns = 4

// A Shape is a block prepared for a search: its four turns, and which of them cover the same
// squares as an earlier one.
type Shape struct {
	Size  int
	Spawn Cell // centre where the block appears
	Turn  [Turns]Turn
	cycle int // turns after which it covers the same squares again: 1, 2 or 4
}

// A Turn is a block turned 0 to 3 times.
type Turn struct {
	Offsets   [MaxSize]Cell // of the squares, in the order of the block's offsets
	Low, High Cell          // smallest and largest offsets
	Column    [MaxSize]uint16
	Twin      int8 // the first turn that covers the same squares
	TwinI     int8 // offset of the twin's centre from this one's
	TwinJ     int8
}

// NewShape returns the Shape of a block whose squares are within MaxSize of its centre.
func NewShape(b *Block) Shape {
	s := Shape{Size: int(b.Size), Spawn: b.Center}
	cells := b.Offsets
	for r := range s.Turn {
		t := &s.Turn[r]
		t.Offsets = cells
		t.measure(s.Size)
		t.Twin = int8(r)
		for q := 0; q < r; q++ {
			if u := &s.Turn[q]; u.Column == t.Column {
				t.Twin, t.TwinI, t.TwinJ = int8(q), t.Low.I-u.Low.I, t.Low.J-u.Low.J
				break
			}
		}
		for k, c := range cells[:s.Size] {
			cells[k] = c.Turned()
		}
	}
	s.cycle = Turns
	for _, n := range [2]int{2, 1} {
		if t := &s.Turn[n]; t.Twin == 0 && t.TwinI == 0 && t.TwinJ == 0 {
			s.cycle = n
		}
	}
	return s
}

// box finds the smallest and the largest offsets.
func (t *Turn) box(size int) {
	t.Low, t.High = t.Offsets[0], t.Offsets[0]
	for _, c := range t.Offsets[1:size] {
		if c.I < t.Low.I {
			t.Low.I = c.I
		}
		if c.J < t.Low.J {
			t.Low.J = c.J
		}
		if c.I > t.High.I {
			t.High.I = c.I
		}
		if c.J > t.High.J {
			t.High.J = c.J
		}
	}
}

// measure finds the box of the squares and their columns in it.
func (t *Turn) measure(size int) {
	t.box(size)
	for _, c := range t.Offsets[:size] {
		t.Column[c.J-t.Low.J] |= 1 << uint(c.I-t.Low.I)
	}
}

// Put adds the squares of the shape, turned r times, with its centre in row i, column j.
func (s *Shape) Put(taken *Field, r, i, j int) {
	t := &s.Turn[r]
	top, left := uint(i+int(t.Low.I))&63, j+int(t.Low.J)
	for k := 0; k <= int(t.High.J-t.Low.J); k++ {
		taken[left+k] |= uint64(t.Column[k]) << top
	}
}
