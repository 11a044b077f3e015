package dropblox

import (
	"fmt"
	"strings"
	"sync/atomic"

	"blockyard/env/falling"
)

// A Field is a set of taken squares: bit i of column j is row i.
type Field = falling.Field

// Turns is the number of quarter turns.
const Turns = 4

// A Shape is a block prepared for a search: its four turns, and which of them cover the same squares as an earlier one.
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
		t.Low.I = min(t.Low.I, c.I)
		t.Low.J = min(t.Low.J, c.J)
		t.High.I = max(t.High.I, c.I)
		t.High.J = max(t.High.J, c.J)
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

// The board and the blocks (rules §2).
const (
	Rows    = 33
	Cols    = 12
	Hidden  = 9 // rows at the top that viewers do not show
	MaxSize = 10
	Known   = 6 // blocks that the player knows: the one in play and the preview
	Preview = Known - 1
	Types   = 12678
)

// A Cell is a row and a column, or the difference of two such.
type Cell struct{ I, J int8 }

// Turned returns c after a quarter turn clockwise (rules §4.2).
func (c Cell) Turned() Cell { return Cell{c.J, -c.I} }

// A Block is a block in a place: 1 to MaxSize squares at Center + Offsets[:Size].
type Block struct {
	Type    int32 // 0..12677
	Size    int8
	Center  Cell
	Offsets [MaxSize]Cell // in the table's order; Cell{} after Size
}

// Cells returns the offsets of the block's squares.
func (b *Block) Cells() []Cell { return b.Offsets[:b.Size] }

// drawn holds the blocks of up to five squares, turned as they appear (rules §3.2).
var drawn = [...][]Cell{
	{{0, 0}},
	{{0, 0}, {-1, 0}},
	{{0, 0}, {-1, 0}, {1, 0}},
	{{0, 0}, {-1, 0}, {0, 1}},
	{{0, 0}, {-1, 0}, {1, 0}, {2, 0}},
	{{0, 0}, {-1, 0}, {1, 0}, {1, -1}},
	{{0, 0}, {-1, 0}, {1, 0}, {1, 1}},
	{{0, 0}, {0, -1}, {1, -1}, {1, 0}},
	{{0, 0}, {-1, 0}, {0, 1}, {1, 1}},
	{{0, 0}, {-1, 0}, {0, -1}, {1, 0}},
	{{0, 0}, {-1, 0}, {0, -1}, {1, -1}},
	{{0, 0}, {-1, 0}, {-2, 0}, {1, 0}, {2, 0}},
	{{0, 0}, {-1, 0}, {-2, 0}, {1, 0}, {1, -1}},
	{{0, 0}, {-1, 0}, {-2, 0}, {1, 0}, {1, 1}},
	{{0, 0}, {-1, 0}, {0, 1}, {1, 0}, {2, 0}},
	{{0, 0}, {-1, 0}, {0, -1}, {1, 0}, {2, 0}},
	{{0, 0}, {-1, 0}, {1, 0}, {0, 1}, {1, 1}},
	{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {1, -1}},
	{{0, 0}, {-1, 0}, {1, 0}, {0, 1}, {0, -1}},
	{{0, 0}, {-1, 0}, {-1, -1}, {1, 0}, {1, -1}},
	{{1, 1}, {1, 0}, {1, -1}, {0, 1}, {-1, 1}},
	{{0, 0}, {-1, 0}, {1, 0}, {0, 1}, {1, -1}},
	{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {1, 1}},
	{{0, 0}, {0, 1}, {-1, 1}, {1, 0}, {1, -1}},
	{{0, 0}, {-1, 0}, {-2, 0}, {0, 1}, {1, 1}},
	{{0, 0}, {-1, 0}, {-2, 0}, {0, -1}, {1, -1}},
	{{0, 0}, {-1, 0}, {-1, 1}, {-1, -1}, {1, 0}},
	{{0, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, 1}},
	{{0, 0}, {0, -1}, {0, 1}, {-1, 1}, {1, -1}},
}

// limits holds the numbers of types of up to 5, 6, … 10 squares (rules §11.2).
var limits = [6]int{29, 89, 285, 989, 3489, Types}

// outlines returns the types from 29 on, which are made when the first is drawn: a contest bot starts once per turn.
func outlines() []outline {
	made, ok := grown.Load().([]outline)
	if !ok {
		made = growAll()
		grown.Store(made) // the same, whoever else makes it
	}
	return made
}

var grown atomic.Value

// A stock is a block of up to five squares, made once: early in a game there are hardly others.
type stock struct {
	block Block
	shape Shape
	spots [5]uint16 // of the squares where it appears, in a plane
}

var stocks = func() (out [len(drawn)]stock) {
	for t := range out {
		s := &out[t]
		s.block = newBlock(t)
		s.shape = NewShape(&s.block)
		for k, o := range s.block.Cells() {
			s.spots[k] = uint16(s.block.spot(o))
		}
	}
	return out
}()

// spot is where the square of the block at offset o is in a plane.
func (b *Block) spot(o Cell) int { return int(b.Center.I+o.I)*Cols + int(b.Center.J+o.J) }

// BlockOf returns the block of type t, 0 ≤ t < Types, where it appears.
func BlockOf(t int) Block {
	if t < len(stocks) {
		return stocks[t].block
	}
	return newBlock(t)
}

func newBlock(t int) Block {
	b := Block{Type: int32(t)}
	if t < len(drawn) {
		b.Size = int8(copy(b.Offsets[:], drawn[t]))
	} else {
		outlines()[t-len(drawn)].spell(&b)
	}
	low := int8(-MaxSize)
	for _, c := range b.Cells() {
		low = max(low, c.I)
	}
	b.Center = Cell{Hidden - low, 6}
	if t == 8 {
		b.Center.J = 5
	}
	return b
}

// SizeOf returns the number of squares of blocks of type t.
func SizeOf(t int) int {
	if t < len(drawn) {
		return len(drawn[t])
	}
	size := 6
	for t >= limits[size-5] {
		size++
	}
	return size
}

// String returns the block's type and a picture of it as it appears.
func (b *Block) String() string {
	t := NewShape(b).Turn[0]
	wide := int(t.High.J-t.Low.J) + 1
	rows := make([]string, t.High.I-t.Low.I+1)
	for i := range rows {
		row := strings.Repeat(".", wide)
		for j := range row {
			if t.Column[j]>>uint(i)&1 != 0 {
				row = row[:j] + "#" + row[j+1:]
			}
		}
		rows[i] = row
	}
	return fmt.Sprintf("%d %s", b.Type, strings.Join(rows, "/"))
}
