package blocking

import (
	"errors"

	"blockyard/env"
)

// A Reason is how a game ended (rules §5).
type Reason uint8

// The reasons.
const (
	Running Reason = iota
	Blocked
	Decided
	Elimination
)

// String returns the reason's name.
func (r Reason) String() string { return [...]string{"", "blocked", "decided", "elimination"}[r] }

// A State is a position before a seat's turn, or the end of a game.
type State struct {
	env.Rand
	Cells   [env.MaxSeats]Board
	Left    [env.MaxSeats]uint32 // letters not laid yet, as bits
	Points  [env.MaxSeats]int16  // squares laid
	Letters uint32               // of the game
	Out     env.Seats            // eliminated
	Stuck   env.Seats            // found without a placement: final
	Seats   uint8
	Turn    uint8 // seat to move
	Reason  Reason
	PlayOut bool  // no early end: play decided games out
	TableID uint8 // index of the shape table among those in use; 0 is the default
}

var (
	_ env.State  = (*State)(nil)
	_ env.Marker = (*State)(nil)
)

// tables are the shape tables in use, by State.TableID: a State must stay flat.
var tables = []*Table{DefaultTable}

// Table returns the shapes the game is played with.
func (s *State) Table() *Table { return tables[s.TableID] }

// Use puts a table in use and returns its State.TableID; tables of equal definitions share
// one. It refuses a table once 256 are in use. Call it before any game is played, not
// beside one.
func Use(t *Table) (id uint8, err error) {
	for i := range tables {
		if tables[i].same(t) {
			return uint8(i), nil
		}
	}
	if len(tables) > 255 {
		return 0, errors.New("blocking: 256 shape tables are in use already")
	}
	tables = append(tables, t)
	return uint8(len(tables) - 1), nil
}

// Reset implements env.State: seed decides the letters.
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

// drawn is how many letters beside A..D a game of so many seats has.
var drawn = [env.MaxSeats + 1]int{2: 14, 3: 9, 4: 6}

// Deal makes the draws that give a game these letters.
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

// Hide implements env.State: nothing is hidden.
func (s *State) Hide(env.Seats, uint64) {}

// CopyFrom implements env.State.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// Acting implements env.State.
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

// pass gives the turn to the next seat that can place, or ends the game. A seat counts as
// able until its turn finds it stuck; the early end looks at no more than that.
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

// ahead reports whether seat has more points than every other that is not eliminated.
func (s *State) ahead(seat int) bool {
	for i := 0; i < int(s.Seats); i++ {
		if i != seat && !s.Out.Has(i) && s.Points[i] >= s.Points[seat] {
			return false
		}
	}
	return true
}

// SeatCount implements env.State.
func (s *State) SeatCount() int { return int(s.Seats) }

// Score implements env.State.
func (s *State) Score(seat int) int {
	if s.Out.Has(seat) {
		return -1
	}
	return int(s.Points[seat])
}

// Result implements env.State.
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

// Check implements env.State.
func (s *State) Check() error {
	seats := env.Seats(1)<<s.Seats - 1
	switch {
	case s.Seats < 2 || s.Seats > env.MaxSeats || int(s.TableID) >= len(tables):
		return errors.New("blocking: no such number of seats or shape table")
	case s.Turn >= s.Seats || s.Reason > Elimination || (s.Out|s.Stuck)&^seats != 0:
		return errors.New("blocking: no such turn, end or seat")
	case s.Forced > env.MaxDraws || s.Used > env.MaxDraws:
		return errors.New("blocking: draw queue out of range")
	case s.Letters>>Letters != 0 || s.Letters&opening != opening:
		return errors.New("blocking: no such letters")
	}
	var taken Board
	for i := range s.Cells {
		b := s.Cells[i]
		if overlap := b; i >= int(s.Seats) && !b.Empty() {
			return errors.New("blocking: cells of nobody")
		} else if overlap.And(&taken); !overlap.Empty() {
			return errors.New("blocking: a cell of two seats")
		}
		taken.Or(&b)
		if s.Left[i]&^s.Letters != 0 || int(s.Points[i]) != b.Count() {
			return errors.New("blocking: letters or points that do not agree with the board")
		}
	}
	taken.Without(&all)
	if !taken.Empty() {
		return errors.New("blocking: a cell outside the board")
	}
	if s.Reason == Running && ((s.Out | s.Stuck).Has(int(s.Turn)) || !s.CanPlace(int(s.Turn))) {
		return errors.New("blocking: the seat to move cannot")
	}
	return nil
}
