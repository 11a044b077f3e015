package blocking

import "blockyard/env"

// A Reason is how a game ended (rules §7).
type Reason uint8

// The reasons.
const (
	Running Reason = iota
	Blocked
	Decided
	Elimination
)

// String returns the reason as records show it, "" while the game runs.
func (r Reason) String() string { return [...]string{"", "blocked", "decided", "elimination"}[r] }

// A State is a position before a seat's turn, or the final position.
type State struct {
	env.Rand
	Cells   [env.MaxSeats]Board
	Left    [env.MaxSeats]uint32 // letters not yet laid, as bits
	Points  [env.MaxSeats]int16  // squares laid
	Letters uint32               // letters of the game, as bits
	Out     env.Seats            // eliminated seats
	Stuck   env.Seats            // seats that had no placement at their turn, for the rest of the game
	Seats   uint8
	Turn    uint8 // seat to move
	Reason  Reason
	PlayOut bool  // continue a game that is decided
	TableID uint8 // names the shape table, see Use; 0 is the default table
}

var (
	_ env.Marker   = (*State)(nil)
	_ env.Answerer = (*State)(nil)
)

// Reset implements env.State. The seed decides the letters.
func (s *State) Reset(seed uint64) {
	*s = State{Rand: s.Rand, Seats: s.Seats, PlayOut: s.PlayOut, TableID: s.TableID}
	s.Restart(seed)
	s.Letters = opening
	var pool [Letters - 4]uint8
	for i := range pool {
		pool[i] = uint8(4 + i)
	}
	for n := 0; n < drawn[s.Seats]; n++ {
		i := n + int(s.Draw(uint32(len(pool)-n)))
		pool[n], pool[i] = pool[i], pool[n]
		s.Letters |= 1 << pool[n]
	}
	for i := 0; i < int(s.Seats); i++ {
		s.Left[i] = s.Letters
	}
	s.End()
}

// drawn is the number of letters besides A..D, by number of seats.
var drawn = [env.MaxSeats + 1]int{2: 14, 3: 9, 4: 6}

// Deal returns the draws that give a game these letters.
func Deal(letters uint32) (draws []uint16) {
	var pool []int
	for l := 4; l < Letters; l++ {
		pool = append(pool, l)
	}
	for n := 0; n < len(pool); n++ {
		for i := n; i < len(pool); i++ {
			if letters>>uint(pool[i])&1 != 0 {
				draws = append(draws, uint16(i-n))
				pool[n], pool[i] = pool[i], pool[n]
				break
			}
		}
	}
	return draws
}

// Hide implements env.State. Nothing is hidden.
func (s *State) Hide(env.Seats, uint64) {}

// CopyFrom implements env.State by one assignment. It panics if src is a State of another game.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// Hash implements env.Hasher. It covers the shape table, all squares, the letters left and whose turn it is; the
// points follow from them.
func (s *State) Hash() uint64 {
	h := uint64(s.TableID)<<32 | uint64(s.Out)<<24 | uint64(s.Stuck)<<16 | uint64(s.Turn)<<8 | uint64(s.Reason)<<4
	if s.PlayOut {
		h |= 1
	}
	h = env.Mix(h ^ uint64(s.Seats)<<40)
	for i := range s.Cells[:s.Seats] {
		h = env.Mix(h ^ uint64(s.Left[i]))
		for _, w := range s.Cells[i] {
			h = (h ^ w) * 0x9E3779B97F4A7C15
			h ^= h >> 32
		}
	}
	return env.Mix(h)
}

// Acting implements env.State: the seat whose turn it is, or none after the end of the game.
func (s *State) Acting() env.Seats {
	if s.Reason != Running {
		return 0
	}
	return 1 << s.Turn
}

// Step implements env.State. None eliminates the seat.
func (s *State) Step(m env.Moves) {
	s.Begin()
	if a := m[s.Turn]; a == env.None {
		s.Out |= 1 << s.Turn
	} else {
		o, x, y := s.Table().Placement(a)
		for _, c := range o.Cells {
			s.Cells[s.Turn].Set(x+int(c.X), y+int(c.Y))
		}
		s.Left[s.Turn] &^= 1 << uint(o.Letter)
		s.Points[s.Turn] += int16(len(o.Cells))
	}
	s.pass()
	s.End()
}

// pass gives the turn to the next seat that can place a piece, or ends the game. A seat counts as
// able to place until its turn shows that it cannot; the early end considers nothing more.
func (s *State) pass() {
	seats := env.Seats(1)<<s.Seats - 1
	if (seats &^ s.Out).Len() <= 1 {
		s.Reason = Elimination
		return
	}
	for n := uint8(0); n < s.Seats; n++ {
		s.Turn = (s.Turn + 1) % s.Seats
		if able := seats &^ s.Out &^ s.Stuck; able == 0 {
			break
		} else if able.Len() == 1 && !s.PlayOut && s.ahead(able.First()) {
			s.Reason = Decided
			return
		}
		bit := env.Seats(1) << s.Turn
		if (s.Out|s.Stuck)&bit != 0 {
			continue
		}
		if s.CanPlace(int(s.Turn)) {
			return
		}
		s.Stuck |= bit
	}
	s.Reason = Blocked
}

// ahead reports whether seat has more points than every other seat that is not eliminated.
func (s *State) ahead(seat int) bool {
	for i := 0; i < int(s.Seats); i++ {
		if i != seat && !s.Out.Has(i) && s.Points[i] >= s.Points[seat] {
			return false
		}
	}
	return true
}

// SeatCount implements env.State: 2, 3 or 4.
func (s *State) SeatCount() int { return int(s.Seats) }

// Score implements env.State with the number of squares on the board, or -1 for a seat that a fault has eliminated
// (rules §7.2).
func (s *State) Score(seat int) int {
	if s.Out.Has(seat) {
		return -1
	}
	return int(s.Points[seat])
}

// Result implements env.State: the mean over the other seats of 1 for a lower score, 0 for the same one and -1 for a
// higher one (rules §7.3).
func (s *State) Result(seat int) float32 {
	if s.Reason == Running {
		return 0
	}
	sum := 0
	for i := 0; i < int(s.Seats); i++ {
		if me, they := s.Score(seat), s.Score(i); me > they {
			sum++
		} else if me < they {
			sum--
		}
	}
	return float32(sum) / float32(s.Seats-1)
}

// Check implements env.State. It also refuses cells that two seats have taken, and a TableID that no table in use has.
func (s *State) Check() error {
	c := env.Checker{Game: "blocking"}
	c.Draws(&s.Rand)
	c.Range("Seats", int(s.Seats), 2, env.MaxSeats)
	c.Range("Turn", int(s.Turn), 0, int(s.Seats)-1)
	c.Range("Reason", int(s.Reason), 0, int(Elimination))
	c.Bits("Out", uint64(s.Out), 1<<s.Seats-1)
	c.Bits("Stuck", uint64(s.Stuck), 1<<s.Seats-1)
	c.Bits("Letters", uint64(s.Letters), 1<<Letters-1)
	c.Want(s.Letters&opening == opening, "Letters is %#x, want A to D among them", s.Letters)
	c.Want(s.Table() != nil, "TableID is %d, want a shape table in use: see Use", s.TableID)
	var taken Board
	for i := range s.Cells {
		b, overlap := s.Cells[i], s.Cells[i]
		overlap.And(&taken)
		taken.Or(&b)
		c.Want(overlap.Empty(), "Cells[%d] has cells of another seat, want each cell once", i)
		c.Want(i < int(s.Seats) || b.Empty(), "Cells[%d] has cells, want none beyond %d seats", i, s.Seats)
		c.Want(int(s.Points[i]) == b.Count(), "Points[%d] is %d, want %d, the number of cells", i, s.Points[i], b.Count())
		c.Want(s.Left[i]&^s.Letters == 0, "Left[%d] is %#x, want letters of the game: %#x", i, s.Left[i], s.Letters)
		b.Without(&all)
		c.Want(b.Empty(), "Cells[%d] has cells outside the board, want none", i)
	}
	if c.Err == nil && s.Reason == Running {
		c.Want(!(s.Out|s.Stuck).Has(int(s.Turn)) && s.CanPlace(int(s.Turn)),
			"Turn is %d, want a seat that can place a piece", s.Turn)
	}
	return c.Err
}
