package dropblox

import (
	"fmt"
	"strings"
)

// The board and the blocks (rules §1).
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

// Turned returns c after a quarter turn clockwise (rules §3).
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

// drawn holds the blocks of up to five squares, turned as they appear (rules §5).
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

// limits holds the numbers of types of up to 5, 6, … 10 squares (rules §6.2).
var limits = [6]int{29, 89, 285, 989, 3489, Types}

// outlines holds the types from 29 on.
var outlines = growAll()

// BlockOf returns the block of type t, 0 ≤ t < Types, where it appears.
func BlockOf(t int) Block {
	b := Block{Type: int32(t)}
	if t < len(drawn) {
		b.Size = int8(copy(b.Offsets[:], drawn[t]))
	} else {
		outlines[t-len(drawn)].spell(&b)
	}
	low := int8(-MaxSize)
	for _, c := range b.Cells() {
		if c.I > low {
			low = c.I
		}
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
