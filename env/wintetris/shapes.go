package wintetris

// The columns and rows of the field, and the boxes of the pieces (rules §2, §3).
const (
	Width     = 10
	Height    = 20
	Kinds     = 7
	Rotations = 4
	Letters   = "IJLOSTZ" // of the kinds, in the order of their numbers
)

// drawings holds the boxes in rotation 0, top row first (rules §3).
var drawings = [Kinds][]string{
	{"....", "XXXX", "....", "...."},
	{"X..", "XXX", "..."},
	{"..X", "XXX", "..."},
	{"XX", "XX"},
	{".XX", "XX.", "..."},
	{".X.", "XXX", "..."},
	{"XX.", ".XX", "..."},
}

// A shape is one kind in one rotation.
type shape struct {
	mask      uint64   // rows of the box from the bottom, 16 bits each, column 0 in the lowest bit
	lo, hi    int8     // first and last column of the box's corner
	low, high int8     // rows of the lowest and the highest cell in the box
	wide      int8     // number of columns with cells, which are adjacent
	foot      [4]int8  // for each such column from the left, the row of its lowest cell
	cells     [4]uint8 // the cells, row*4 + column
}

// shapes holds every kind in every rotation.
var shapes = func() (out [Kinds][Rotations]shape) {
	for k := range out {
		for r := range out[k] {
			out[k][r] = measure(k, r)
		}
	}
	return out
}()

// drawn reports whether column x, row y (from the bottom) of a box holds a cell.
func drawn(kind, rot, x, y int) bool {
	rows := drawings[kind]
	for ; rot > 0; rot-- {
		x, y = len(rows)-1-y, x
	}
	return rows[len(rows)-1-y][x] == 'X'
}

func measure(kind, rot int) (s shape) {
	n := len(drawings[kind])
	left, right, low, high := n, 0, n, 0
	count := 0
	var lowest [4]int8
	for y := 0; y < n; y++ {
		for x := 0; x < n; x++ {
			if !drawn(kind, rot, x, y) {
				continue
			}
			if s.mask>>uint(x)&(1<<48|1<<32|1<<16|1) == 0 {
				lowest[x] = int8(y)
			}
			s.cells[count] = uint8(y*4 + x)
			count++
			s.mask |= 1 << uint(16*y+x)
			left, right = min(left, x), max(right, x)
			low, high = min(low, y), max(high, y)
		}
	}
	s.low, s.high = int8(low), int8(high)
	s.lo, s.hi, s.wide = int8(-left), int8(Width-1-right), int8(right-left+1)
	copy(s.foot[:], lowest[left:right+1])
	return s
}

// at returns the mask of a box in column x, lo ≤ x ≤ hi.
func (s *shape) at(x int8) uint64 {
	if x < 0 {
		return s.mask >> uint(-x)
	}
	return s.mask << uint(x)
}

// Mask returns the block's cells, 16 bits per row from row b.Y upwards, column 0 in the lowest bit.
func (b Block) Mask() uint64 { return shapes[b.Kind][b.Rot].at(b.X) }

// A Block is a piece in a place: kind, rotation and the lower left corner of its box.
type Block struct {
	Kind, Rot uint8
	X, Y      int8
}

// Size returns the side of a kind's box, in cells.
func Size(kind uint8) int { return len(drawings[kind]) }

// Spawn returns a piece of the kind where it appears (rules §3).
func Spawn(kind uint8) Block { return spawns[kind] }

var spawns = func() (out [Kinds]Block) {
	for k := range out {
		out[k] = Block{uint8(k), 0, int8((Width - Size(uint8(k))) / 2), Height - 1 - shapes[k][0].high}
	}
	return out
}()

// Turned returns the block after that many quarter turns clockwise; -1 is one counter-clockwise.
func (b Block) Turned(by int) Block {
	b.Rot = (b.Rot + uint8(by)) & 3
	return b
}

// Moved returns the block moved by dx columns to the right and dy rows up.
func (b Block) Moved(dx, dy int) Block {
	b.X += int8(dx)
	b.Y += int8(dy)
	return b
}

// Top returns the row of the block's highest cell, counted from the bottom of the field.
func (b Block) Top() int { return int(b.Y + shapes[b.Kind][b.Rot].high) }

// Bottom returns the row of the block's lowest cell, counted from the bottom of the field.
func (b Block) Bottom() int { return int(b.Y + shapes[b.Kind][b.Rot].low) }

// Cells returns the block's cells as (x, y), lower rows first.
func (b Block) Cells() (out [4][2]int) {
	for i, c := range shapes[b.Kind][b.Rot].cells {
		out[i] = [2]int{int(b.X) + int(c&3), int(b.Y) + int(c>>2)}
	}
	return out
}

// First returns the block with the smallest rotation that covers the same cells as b.
func (b Block) First() Block {
	t := &twins[b.Kind][b.Rot]
	return Block{b.Kind, t.of, b.X + t.dx, b.Y + t.dy}
}
