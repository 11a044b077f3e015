package dropblox

import "encoding/binary"

// Observe implements env.State.
func (s *State) Observe(_ int, planes []uint8, globals []float32) {
	const board = Rows * Cols
	planes = planes[:(1+Known)*board]
	zero(planes)
	squares(&s.Taken, planes[:board])
	globals = globals[:2+Known+1]
	globals[0], globals[1] = float32(s.Points), float32(s.Turns)
	for k, t := range s.Blocks {
		plane := planes[(1+k)*board:][:board]
		if int(t) < len(stocks) {
			b := &stocks[t]
			for _, at := range b.spots[:b.block.Size] {
				plane[at] = 1
			}
			globals[2+k] = float32(b.block.Size)
			continue
		}
		b := BlockOf(int(t))
		for _, o := range b.Cells() {
			plane[b.spot(o)] = 1
		}
		globals[2+k] = float32(b.Size)
	}
	globals[2+Known] = meanSize(int(s.Points))
}

// zero clears planes. It is not inlined: with a length that the compiler knows, it would clear 16 bytes at a time.
//
//go:noinline
func zero(planes []uint8) {
	for k := range planes {
		planes[k] = 0
	}
}

// squares writes the taken squares to a plane of zeros. It takes eight rows of eight or four columns at a time, as the
// bytes of a word: a bit of each is a row.
func squares(f *Field, plane []uint8) {
	const bit = 0x0101010101010101
	any := f.Any()
	for top := Rows - 8; top > 0 && any&(1<<uint(top+8)-1) != 0; top -= 8 {
		by := uint(top)
		left := f[0]>>by&255 | f[1]>>by&255<<8 | f[2]>>by&255<<16 | f[3]>>by&255<<24 |
			f[4]>>by&255<<32 | f[5]>>by&255<<40 | f[6]>>by&255<<48 | f[7]>>by<<56
		right := f[8]>>by&255 | f[9]>>by&255<<8 | f[10]>>by&255<<16 | f[11]>>by<<24
		rows := plane[top*Cols:][:8*Cols]
		for ; len(rows) >= Cols; rows = rows[Cols:] {
			binary.LittleEndian.PutUint64(rows, left&bit)
			binary.LittleEndian.PutUint32(rows[8:], uint32(right&bit))
			left, right = left>>1, right>>1
		}
	}
	for j, c := range f[:Cols] { // the first row
		plane[j] = uint8(c & 1)
	}
}
