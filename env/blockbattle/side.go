package blockbattle

import (
	"math/bits"

	"blockyard/env/falling"
)

// A Side is one player's half of the position.
type Side struct {
	Cells   falling.Field // blocks: bit y of column x; solid rows are not part of it
	Points  int32         // row_points, never reduced (rules §7.5)
	Combo   int32
	Skips   int32 // skips in stock
	Solid   uint8 // number of solid rows: rows 20-Solid and below
	Pending uint8 // garbage rows to come; only in an afterstate, for the side that did not move
	Lost    Phase
}

// floor returns the first row below the board above the solid rows.
func (s *Side) floor() int { return Height - int(s.Solid) }

// rows returns the rows of the board that are not solid, as bits.
func (s *Side) rows() uint64 { return 1<<uint(s.floor()) - 1 }

// lock writes a landed piece into the board and reports whether a part of it is above the board
// (rules §5).
func (s *Side) lock(l *Landing) (over bool) {
	if l.Skipped {
		return false
	}
	for _, c := range pieces[l.Piece].Cells[l.Rot] {
		x, y := l.X+int(c.X), l.Y+int(c.Y)
		if y < 0 {
			over = true
		} else {
			s.Cells.Set(x, y)
		}
	}
	return over
}

// clear removes full rows and returns their number.
func (s *Side) clear() int {
	full := s.Cells.Full(Width) & s.rows()
	if full != 0 {
		s.Cells.Clear(full)
	}
	return bits.OnesCount64(full)
}

// raise inserts k empty rows above the solid rows (rules §8.1) and returns how many fitted. fits
// is false if not all rows fitted or a block was pushed over the top.
func (s *Side) raise(k int) (rows int, fits bool) {
	fits = s.Cells.Any()&(1<<uint(k)-1) == 0
	if k > s.floor() {
		k, fits = s.floor(), false
	}
	s.Cells.Raise(k)
	return k, fits
}

// lose records the first phase in which the side lost.
func (s *Side) lose(p Phase) {
	if s.Lost == NotLost {
		s.Lost = p
	}
}

// SpawnHits reports whether a block is in the way of a new piece (rules §3).
func (s *Side) SpawnHits(piece int) bool {
	w := walker{side: s, piece: piece}
	return w.hits(box{SpawnX(piece), -1, 0}, false)
}
