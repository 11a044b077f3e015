package blockbattle

import (
	"crypto/sha1"
	"encoding/binary"

	"blockyard/env"
	"blockyard/env/falling"
)

// A Report is what happened in a round, in the terms of the rules, for hosts, records and tests.
type Report struct {
	Sides  [2]SideReport
	Losses []Loss // in the order in which the engine notices them
}

// A SideReport is one side's part of a Report.
type SideReport struct {
	Locked      falling.Field // blocks after both answers, before rows are cleared
	Rows        int           // rows cleared
	Cleared     bool          // no block was left on the board
	Gain        int           // points of this round
	Lines       int           // garbage rows sent, including those that did not fit
	FirstSingle bool          // whether the first of these rows has a single hole
	Holes       []uint16      // of the rows that fitted, lowest row first: one bit per column with a hole
}

// A Loss is a side losing in a phase.
type Loss struct {
	Phase Phase
	Seat  int
}

// Play plays a round after both answers: steps 4 to 8 of rules §5.1, and the next deal. rep may be nil.
func (s *State) Play(lands *[2]Landing, rep *Report) {
	s.Begin()
	var rows [2]int
	var empty [2]bool
	for i := range lands {
		if s.Sides[i].lock(&lands[i]) {
			s.lose(i, LostOverflow, rep)
		}
	}
	for i := range lands {
		side := &s.Sides[i]
		if rep != nil {
			rep.Sides[i] = SideReport{Locked: side.Cells}
		}
		rows[i] = side.clear()
		empty[i] = side.Cells.Any() == 0
	}
	for i := range lands {
		gain := s.Sides[i].Award(rows[i], empty[i], &lands[i], s.Rules)
		total := int(s.Sides[i].Points) / PerGarbage
		lines := total - (int(s.Sides[i].Points)-gain)/PerGarbage
		if rep != nil {
			r := &rep.Sides[i]
			r.Rows, r.Cleared, r.Gain, r.Lines, r.FirstSingle = rows[i], empty[i], gain, lines, total%2 == 0
		}
		if lines > 0 {
			s.garbage(i, lines, total, rep)
		}
		if s.Round%SolidInterval == 0 {
			if !s.Sides[i].solid() {
				s.lose(i, LostSolid, rep)
			}
		}
	}
	if s.Sides[0].Lost == NotLost && s.Sides[1].Lost == NotLost {
		s.deal(rep)
	} else {
		s.Over = true
	}
	s.End()
}

// Award scores cleared rows (rules §6) and returns the points of the round. empty says that no block is left. Of the
// landing, only TSpin and Skipped matter.
func (s *Side) Award(rows int, empty bool, l *Landing, rules Rules) int {
	var gain int
	if l.TSpin {
		gain = [5]int{0, 5, 10, 0, 0}[rows]
	} else {
		gain = [5]int{0, 0, 3, 6, 10}[rows]
	}
	if l.TSpin && rows == 2 || !l.TSpin && rows == 4 {
		s.Skips++
	}
	switch {
	case rows >= 2 || rows == 1 && l.TSpin:
		gain += int(s.Combo)
		s.Combo++
	case rows == 1:
		gain += int(s.Combo)
	case !l.Skipped:
		s.Combo = 0
	}
	if empty && (rows > 0 || rules&PCNeedsClear == 0) {
		gain = 18
	}
	if l.Skipped {
		s.Skips--
	}
	s.Points += int32(gain)
	return gain
}

// garbage sends rows (rules §5.4). total is the number that seat has sent in the game, including these.
func (s *State) garbage(seat, lines, total int, rep *Report) {
	to := &s.Sides[1-seat]
	lines, fits := to.raise(lines)
	if !fits {
		s.lose(1-seat, LostGarbage, rep)
	}
	row := uint(to.floor())
	for i := 1; i <= lines; i++ {
		row--
		hole := s.Draw(10)
		holes := uint16(1) << hole
		if (i%2 == 1) != (total%2 == 0) {
			holes |= 1 << ((hole + 1 + s.Draw(9)) % 10)
		}
		for x := uint(0); x < Width; x++ {
			to.Cells[x] |= uint64(^holes>>x&1) << row
		}
		if rep != nil {
			rep.Sides[seat].Holes = append(rep.Sides[seat].Holes, holes)
		}
	}
}

// solid raises the floor by a row (rules §5.5) and reports whether it fitted.
func (s *Side) solid() bool {
	rows, fits := s.raise(1)
	s.Solid += uint8(rows)
	return fits
}

// deal starts the next round (rules §5.1, steps 1 and 2).
func (s *State) deal(rep *Report) {
	s.Round++
	s.Piece, s.Next = s.Next, uint8(s.Draw(Pieces))
	for i := range s.Sides {
		if s.Sides[i].SpawnHits(int(s.Piece)) {
			s.lose(i, LostSpawn, rep)
			s.Over = true
			if s.Rules&PortSpawn != 0 {
				return
			}
		}
	}
}

// lose records a loss and updates Winner (rules §12, item 16).
func (s *State) lose(seat int, p Phase, rep *Report) {
	if side := &s.Sides[seat]; side.Lost == NotLost { // the first phase counts
		side.Lost = p
	}
	switch other := int8(1 - seat); {
	case s.Rules&DrawBySet != 0:
		s.Winner = other
		if s.Sides[other].Lost != NotLost {
			s.Winner = Nobody
		}
	case s.Winner == Nobody:
		s.Winner = other
	case s.Winner != other:
		s.Winner = Nobody
	}
	if rep != nil {
		rep.Losses = append(rep.Losses, Loss{p, seat})
	}
}

// A PortStream is the random generator of the port (rules §13.3), with the same draws from the same seed string.
type PortStream struct {
	state [sha1.Size]byte
	out   [sha1.Size]byte
	used  int
}

// NewPortStream starts the stream of a seed string.
func NewPortStream(seed string) *PortStream {
	return &PortStream{state: sha1.Sum([]byte(seed)), used: sha1.Size}
}

// next returns 31 bits.
func (p *PortStream) next() uint32 {
	var word [4]byte
	for i := range word {
		if p.used == len(p.out) {
			p.refill()
		}
		word[i] = p.out[p.used]
		p.used++
	}
	return binary.BigEndian.Uint32(word[:]) >> 1
}

func (p *PortStream) refill() {
	p.out, p.used = sha1.Sum(p.state[:]), 0
	carry, changed := int32(1), false
	for i := range p.state {
		v := int32(int8(p.state[i])) + int32(int8(p.out[i])) + carry
		changed = changed || byte(v) != p.state[i]
		p.state[i] = byte(v)
		carry = v >> 8
	}
	if !changed {
		p.state[0]++
	}
}

// Draw returns a number below n, which must not be a power of two.
func (p *PortStream) Draw(n uint32) uint16 {
	for {
		u := p.next()
		r := u % n
		if int64(u)-int64(r)+int64(n)-1 <= 1<<31-1 {
			return uint16(r)
		}
	}
}

// Piece draws the kind of the next piece, 0 to 6 (rules §13.3).
func (p *PortStream) Piece() uint16 { return p.Draw(Pieces) }

// Row draws the one or two holes of a garbage row, as draws for State.Force.
func (p *PortStream) Row(dst []uint16, two bool) []uint16 {
	dst = append(dst, p.Draw(10))
	if two {
		dst = append(dst, p.Draw(9))
	}
	return dst
}

// Threat returns the largest number of garbage rows that seat can send this round by one of the given legal actions
// (rules §5.4). An action with which the seat itself loses at once does not count.
func (s *State) Threat(seat int, legal []env.Action) int {
	most := 0
	for _, a := range legal {
		side, land := s.Sides[seat], s.Landing(seat, a)
		if sent, over := side.settle(&land, s.Rules); !over && sent > most {
			most = sent
		}
	}
	return most
}

// Survives reports whether seat is still in the game after its afterstate s if garbage rows rise on its board: no
// block is pushed over the top (rules §5.3), and the next piece has room where it appears, as far as that depends on
// the blocks that are there.
func (s *State) Survives(seat, rows int) bool {
	side := s.Sides[seat]
	_, fits := side.raise(rows)
	return fits && !side.SpawnHits(int(s.Piece))
}
