package blockbattle

import (
	"math/bits"

	"blockyard/env"
	"blockyard/env/falling"
)

// Nobody is State.Winner until a seat has won, and after a draw.
const Nobody int8 = -1

// A State is a position at the start of a round, in which both seats must choose, or the final position.
type State struct {
	env.Rand
	Sides  [2]Side
	Round  int32 // 1, 2, …
	Piece  uint8 // piece of this round, the same for both seats
	Next   uint8 // piece of the next round
	Rules  Rules
	Over   bool
	Winner int8 // seat, or Nobody
}

var (
	_ env.Afterstater = (*State)(nil)
	_ env.Marker      = (*State)(nil)
	_ env.Answerer    = (*State)(nil)
)

// Reset implements env.State. The seed decides every piece and every hole.
func (s *State) Reset(seed uint64) {
	*s = State{Rand: s.Rand, Rules: s.Rules, Winner: Nobody}
	s.Restart(seed)
	s.Next = uint8(s.Draw(Pieces))
	s.deal(nil)
	s.End()
}

// Hide implements env.State. Pieces after the next one and holes to come are hidden.
func (s *State) Hide(_ env.Seats, seed uint64) {
	s.Seed(seed)
	s.End()
}

// CopyFrom implements env.State by one assignment. It panics if src is a State of another game.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// SeatCount implements env.State: it is always 2.
func (s *State) SeatCount() int { return 2 }

// Acting implements env.State. Both seats act in every round.
func (s *State) Acting() env.Seats {
	if s.Over {
		return 0
	}
	return 3
}

// Step implements env.State. None is an answer without tokens: the piece falls where it appeared.
func (s *State) Step(m env.Moves) {
	var lands [2]Landing
	for i := range lands {
		lands[i] = s.Landing(i, m[i])
	}
	s.Play(&lands, nil)
}

// After implements env.Afterstater. The seat's rows are cleared and scored, its solid row rises and the next piece
// appears. Garbage that the seat sends becomes Pending on the opponent's side, whose board does not change.
func (s *State) After(seat int, a env.Action) {
	s.Begin()
	land := s.Landing(seat, a)
	me := &s.Sides[seat]
	sent, over := me.settle(&land, s.Rules)
	if over {
		s.lose(seat, LostOverflow, nil)
	}
	pending := min(int(s.Sides[1-seat].Pending)+sent, Height)
	s.Sides[1-seat].Pending = uint8(pending)
	if s.Round%SolidInterval == 0 && !me.solid() {
		s.lose(seat, LostSolid, nil)
	}
	if me.Lost == NotLost {
		s.Round++
		s.Piece, s.Next = s.Next, uint8(s.Draw(Pieces))
		if me.SpawnHits(int(s.Piece)) {
			s.lose(seat, LostSpawn, nil)
		}
	}
	s.Over = me.Lost != NotLost
	s.End()
}

// Score implements env.State with row_points.
func (s *State) Score(seat int) int { return int(s.Sides[seat].Points) }

// Result implements env.State: 1 for the winner and -1 for the loser; a draw is 0 for both (rules §7).
func (s *State) Result(seat int) float32 {
	switch {
	case !s.Over || s.Winner == Nobody:
		return 0
	case int(s.Winner) == seat:
		return 1
	}
	return -1
}

// Check implements env.State. The bounds of its numbers follow from the number of the round.
func (s *State) Check() error {
	// Every game ends by its solid rows, one for each SolidInterval rounds. A round raises combo and skips by at most one,
	// and earns at most 18 points, or 10 and the combo. Positions that training starts from have up to given more.
	const rounds, given = SolidInterval * (Height + 1), 29
	c := env.Checker{Game: "blockbattle"}
	c.Draws(&s.Rand)
	c.Bits("Rules", uint64(s.Rules), uint64(PortSpawn<<1-1))
	c.Range("Piece", int(s.Piece), 0, Pieces-1)
	c.Range("Next", int(s.Next), 0, Pieces-1)
	c.Range("Round", int(s.Round), 1, rounds)
	c.Range("Winner", int(s.Winner), int(Nobody), 1)
	c.Want(s.Over || s.Winner == Nobody, "Winner is %d, want %d while Over is false", s.Winner, Nobody)
	for i := range s.Sides {
		d := &s.Sides[i]
		c.In = [2]string{"Sides[0].", "Sides[1]."}[i]
		c.Range("Combo", int(d.Combo), 0, int(s.Round))
		c.Range("Skips", int(d.Skips), 0, int(s.Round))
		c.Range("Points", int(d.Points), 0, given+int(s.Round)*(18+int(s.Round)))
		c.Range("Solid", int(d.Solid), 0, Height)
		c.Range("Pending", int(d.Pending), 0, Height)
		c.Range("Lost", int(d.Lost), 0, int(LostSolid))
		c.Want(s.Over || d.Lost == NotLost, "Lost is %d, want %d while Over is false", d.Lost, NotLost)
		for x, column := range d.Cells {
			if column&^d.rows() != 0 || x >= Width && column != 0 {
				c.Want(false, "Cells[%d] is %#x, want cells on the board above the solid rows", x, column)
			}
		}
		if c.Err == nil && !s.Over {
			c.Want(!d.SpawnHits(int(s.Piece)), "Cells block the spawn of piece %d, want Over to be true", s.Piece)
		}
	}
	return c.Err
}

// A Side is one player's half of the position.
type Side struct {
	Cells   falling.Field // blocks: bit y of column x; solid rows are not part of it
	Points  int32         // row_points, never reduced (rules §6.6)
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

// lock writes a landed piece into the board and reports whether a part of it is above the board (rules §5.2).
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

// settle locks a piece, clears full rows and scores them. It returns how many garbage rows that sends, and whether a
// part of the piece is above the board.
func (s *Side) settle(l *Landing, rules Rules) (sent int, over bool) {
	over = s.lock(l)
	rows, before := s.clear(), int(s.Points)/PerGarbage
	s.Award(rows, s.Cells.Any() == 0, l, rules)
	return int(s.Points)/PerGarbage - before, over
}

// clear removes full rows and returns their number.
func (s *Side) clear() int {
	full := s.Cells.Full(Width) & s.rows()
	if full != 0 {
		s.Cells.Clear(full)
	}
	return bits.OnesCount64(full)
}

// raise inserts k empty rows above the solid rows (rules §5.3) and returns how many fitted. fits
// is false if not all rows fitted or a block was pushed over the top.
func (s *Side) raise(k int) (rows int, fits bool) {
	fits = s.Cells.Any()&(1<<uint(k)-1) == 0
	if k > s.floor() {
		k, fits = s.floor(), false
	}
	s.Cells.Raise(k)
	return k, fits
}

// SpawnHits reports whether a block is in the way of a new piece (rules §3).
func (s *Side) SpawnHits(piece int) bool {
	w := walker{side: s, piece: piece}
	return w.hits(box{SpawnX(piece), -1, 0}, false)
}
