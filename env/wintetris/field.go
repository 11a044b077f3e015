package wintetris

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
)

// A Field is the settled cells: bit x of element y is column x of row y, where row 0 is at the
// floor. The four rows above the field are the open space and always empty.
type Field [Height + 4]uint16

const fullRow = 1<<Width - 1

// At reports whether a cell is filled; cells outside are not.
func (f *Field) At(x, y int) bool {
	return x >= 0 && x < Width && y >= 0 && y < Height && f[y]>>uint(x)&1 != 0
}

// Set fills a cell of the field.
func (f *Field) Set(x, y int) { f[y] |= 1 << uint(x) }

// Window returns rows y..y+3, -4 ≤ y ≤ 20, 16 bits each, the lowest first. Rows below the floor are empty.
func (f *Field) Window(y int) uint64 {
	under := uint(0)
	if y < 0 {
		under, y = uint(-16*y), 0
	}
	r := f[y : y+4]
	return (uint64(r[0]) | uint64(r[1])<<16 | uint64(r[2])<<32 | uint64(r[3])<<48) << under
}

// Fits reports whether the cells of the block are empty, between the walls and above the floor.
func (f *Field) Fits(b Block) bool {
	s := &shapes[b.Kind][b.Rot]
	if b.X < s.lo || b.X > s.hi || b.Y < -s.low {
		return false
	}
	return b.Y > Height || f.Window(int(b.Y))&s.at(b.X) == 0
}

// Fall returns the block moved down as far as possible. The block must fit.
func (f *Field) Fall(b Block) Block {
	s := &shapes[b.Kind][b.Rot]
	cells := s.at(b.X)
	y := min(b.Y, Height)
	for w := f.Window(int(y)); y > -s.low; y-- {
		w <<= 16
		if y > 0 {
			w |= uint64(f[y-1])
		}
		if w&cells != 0 {
			break
		}
	}
	b.Y = y
	return b
}

// Put fills the cells of a block inside the field, removes full rows and returns their number (rules §5.1).
func (f *Field) Put(b Block) (rows int) {
	cells := shapes[b.Kind][b.Rot].at(b.X)
	y := int(b.Y)
	if y < 0 {
		cells >>= uint(-16 * y)
		y = 0
	}
	full := false
	rows4 := f[y : y+4]
	for i := range rows4 {
		rows4[i] |= uint16(cells >> uint(16*i))
		full = full || rows4[i] == fullRow
	}
	if !full {
		return 0
	}
	return f.clear(y)
}

// clear removes full rows, none of which is below row y.
func (f *Field) clear(y int) (rows int) {
	to := y
	for ; y < Height; y++ {
		if f[y] == fullRow {
			rows++
			continue
		}
		f[to] = f[y]
		to++
	}
	clear(f[to:Height])
	return rows
}

// count returns the number of filled cells.
func (f *Field) count() (n int64) {
	for y := 0; y < Height; y += 4 {
		n += int64(bits.OnesCount64(f.Window(y)))
	}
	return n
}

// Heights returns for each column the row of its highest filled cell plus one, or 0.
func (f *Field) Heights() (h [Width]int8) {
	seen := uint16(0)
	for y := f.Top() - 1; y >= 0 && seen != fullRow; y-- {
		for fresh := f[y] &^ seen; fresh != 0; fresh &= fresh - 1 {
			h[bits.TrailingZeros16(fresh)] = int8(y + 1)
		}
		seen |= f[y]
	}
	return h
}

// Top returns the height of the highest column.
func (f *Field) Top() int {
	for y := Height - 4; y >= 0; y -= 4 {
		if w := f.Window(y); w != 0 {
			return y + (bits.Len64(w)+15)/16
		}
	}
	return 0
}

// Low reports whether every row from y up is empty.
func (f *Field) Low(y int) bool {
	for ; y <= Height; y += 4 {
		if f.Window(y) != 0 {
			return false
		}
	}
	return true
}

const (
	columns = Width + 1 // columns that a box can be in, from minX
	minX    = -2
	actions = Rotations * columns
)

// Action returns the id of a block's rotation and column.
func (b Block) Action() env.Action { return env.Action(int(b.Rot)*columns + int(b.X) - minX) }

// target returns b with the rotation and column of an action.
func target(b Block, a env.Action) Block {
	b.Rot, b.X = uint8(a/columns), int8(a%columns)+minX
	return b
}

// A layout is a set of resting places: bit x-minX of element r is column x in rotation r.
type layout [Rotations]uint16

// open holds, by kind, the resting places in an empty field; openOnce those of them that cover different cells.
var open, openOnce = func() (all, once [Kinds]layout) {
	var f Field
	for k := range all {
		all[k] = places(&f, Spawn(uint8(k)), false)
		once[k] = places(&f, Spawn(uint8(k)), true)
	}
	return all, once
}()

// places returns the resting places within the field of a piece that has just appeared. If
// distinct is true, only the smallest rotation of places that cover the same cells is included.
func places(f *Field, b Block, distinct bool) (out layout) {
	var seen layout
	for t := 0; t < Rotations; t++ {
		if t > 0 {
			if b = b.Turned(1); !f.Fits(b) {
				break // so are more turns
			}
		}
		s := &shapes[b.Kind][t]
		first, last := f.run(b)
		set := uint32(1)<<uint(last+margin+1) - 1<<uint(first+margin)
		if b.Y+s.high >= Height { // it must come down at least one row
			set &= f.fits(s, int(b.Y)-1)
		}
		out[t] = uint16(set >> (margin + minX))
		if twin := &twins[b.Kind][t]; distinct {
			// Remove places where a smaller rotation covers the same cells.
			moved := uint32(out[t]) << 8 >> uint(8-twin.dx) &^ uint32(seen[twin.of])
			seen[twin.of] |= uint16(moved)
			out[t] = uint16(moved << 8 >> uint(8+twin.dx))
		}
	}
	return out
}

// layout returns the legal resting places: in the paper's modes, all in which a piece can fall. Mode must not be Ticks.
func (s *State) layout() layout {
	switch once := s.Mode != Placement; {
	case s.Mode.Paper():
		return openOnce[s.Piece.Kind]
	case !s.Field.Low(openFrom):
		return places(&s.Field, s.Piece, once)
	case once:
		return openOnce[s.Piece.Kind]
	}
	return open[s.Piece.Kind]
}

var everyBits = func() (out [bitSets]env.Action) {
	for i := range out {
		out[i] = env.Action(i)
	}
	return out
}()

// Legal implements env.State: the places where the piece can come to rest or, in the mode Ticks, all sets of bits that
// a solver may answer (rules §4).
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	switch {
	case s.Over != Running || seat != 0:
		return dst
	case s.Mode == Ticks:
		return append(dst, everyBits[:]...)
	}
	for r, set := range s.layout() {
		for ; set != 0; set &= set - 1 {
			dst = append(dst, env.Action(r*columns+bits.TrailingZeros16(set)))
		}
	}
	return dst
}

// MaskLegal implements env.Masker, with the actions that Legal lists.
func (s *State) MaskLegal(_ int, mask []byte) {
	word := uint64(1<<bitSets - 1)
	if s.Mode != Ticks {
		word = 0
		for r, set := range s.layout() {
			word |= uint64(set) << uint(r*columns)
		}
	}
	binary.LittleEndian.PutUint64(mask, word)
}
