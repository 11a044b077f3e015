package tetrisduel

import (
	"blockyard/env"
	"blockyard/env/falling"
)

// Nobody is State.Winner until a seat has won, and after a draw.
const Nobody int8 = -1

// A Reason is how a game ended (rules §7).
type Reason uint8

// The reasons that follow from the rules alone.
const (
	Running Reason = iota
	Limit
	Overflow
	Illegal
)

// String returns the contest's code.
func (r Reason) String() string { return [...]string{"", "limit", "overflow", "illegal"}[r] }

// A State is a position before a half-turn, or the final position.
type State struct {
	env.Rand
	Cells  falling.Field    // filled cells in seat 0's frame
	Deal   [Packages]uint16 // order of each bag, an index into permutations
	Points [2]int32
	Turn   int16 // half-turn, 1..560
	Combo  int16
	Last   [2]env.Action // last placement of each seat in its own frame, or env.None
	Flag   bool          // battle rows were cleared in this round
	Reason Reason
	Winner int8
}

var (
	_ env.Marker = (*State)(nil)
	_ env.Masker = (*State)(nil)
)

// Reset implements env.State. The seed decides the order of the 80 bags.
func (s *State) Reset(seed uint64) {
	*s = State{Rand: s.Rand, Turn: 1, Winner: Nobody, Last: [2]env.Action{env.None, env.None}}
	s.Restart(seed)
	for i := range s.Deal {
		s.Deal[i] = s.Draw(uint32(len(permutations)))
	}
	s.End()
}

// Hide implements env.State. Nothing is hidden.
func (s *State) Hide(env.Seats, uint64) {}

// CopyFrom implements env.State by one assignment. It panics if src is a State of another game.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// Hash implements env.Hasher. Of the blocks to come, it covers those of this bag and the next three.
func (s *State) Hash() uint64 {
	h := uint64(uint32(s.Points[0]))<<32 | uint64(uint32(s.Points[1]))
	h = env.Mix(h) ^ uint64(uint16(s.Turn))<<32 ^ uint64(uint16(s.Combo))<<16 ^ uint64(s.Reason)<<8
	if s.Flag {
		h ^= 1
	}
	bag := uint64(0)
	for k := int(s.Turn-1) / Kinds; k < Packages && k < int(s.Turn-1)/Kinds+4; k++ {
		bag = bag<<16 | uint64(s.Deal[k])
	}
	h = env.Mix(env.Mix(h) ^ bag)
	for _, column := range s.Cells[:Width] {
		h = (h ^ column) * 0x9E3779B97F4A7C15
		h ^= h >> 32
	}
	return env.Mix(h)
}

// Block returns the block of half-turn t, 1..560.
func (s *State) Block(t int) int { return int(permutations[s.Deal[(t-1)/Kinds]][(t-1)%Kinds]) }

// Mover returns the seat that acts in half-turn Turn.
func (s *State) Mover() int { return int(s.Turn-1) & 1 }

// Board returns the board in seat's frame.
func (s *State) Board(seat int) falling.Field {
	if seat == 0 {
		return s.Cells
	}
	return Turned(&s.Cells)
}

// SeatCount implements env.State: it is always 2.
func (s *State) SeatCount() int { return 2 }

// Acting implements env.State: the seat of this half-turn, or none after the end of the game.
func (s *State) Acting() env.Seats {
	if s.Reason != Running {
		return 0
	}
	return 1 << s.Mover()
}

// Step implements env.State. None loses the game.
func (s *State) Step(m env.Moves) {
	s.Begin()
	seat := s.Mover()
	if a := m[seat]; a == env.None {
		s.end(Illegal, int8(1-seat))
	} else {
		s.Place(a)
	}
	s.End()
}

// Place plays the mover's placement and returns the rows cleared.
func (s *State) Place(a env.Action) (peace, battle int) {
	seat, p, zone := s.Mover(), At(a), uint64(within)
	for _, c := range &offsets[s.Block(int(s.Turn))][p.D] {
		x, y := p.X+int(c.X), p.Y+int(c.Y)
		if seat == 1 {
			x, y, zone = Width-1-x, Height-1-y, within<<(Height-Reachable)
		}
		s.Cells.Set(x, y)
	}
	if s.Cells.Full(Width)&zone != 0 {
		board := s.Board(seat)
		peace, battle = Clear(&board)
		if s.Cells = board; seat == 1 {
			s.Cells = Turned(&board)
		}
	}
	points := Gain(peace, battle)
	if battle > 0 {
		points += int(s.Combo)
		s.Flag = true
	}
	s.Points[seat] += int32(points)
	s.Last[seat] = a
	if seat == 1 {
		if s.Combo++; !s.Flag {
			s.Combo = 0
		}
		s.Flag = false
	}
	if s.Turn == HalfTurns {
		winner := Nobody
		if d := s.Points[0] - s.Points[1]; d > 0 {
			winner = 0
		} else if d < 0 {
			winner = 1
		}
		s.end(Limit, winner)
		return peace, battle
	}
	s.Turn++
	if !s.open() {
		s.end(Overflow, int8(seat))
	}
	return peace, battle
}

func (s *State) end(r Reason, winner int8) { s.Reason, s.Winner = r, winner }

// Score implements env.State with the points of rules §6.
func (s *State) Score(seat int) int { return int(s.Points[seat]) }

// Result implements env.State: 1 for the winner and -1 for the loser, 0 for both after a draw (rules §7).
func (s *State) Result(seat int) float32 {
	switch {
	case s.Winner == Nobody:
		return 0
	case int(s.Winner) == seat:
		return 1
	}
	return -1
}

// Check implements env.State. It bounds the points and the combo by the number of half-turns played, and wants a
// placement while the game runs.
func (s *State) Check() error {
	c := env.Checker{Game: "tetrisduel"}
	c.Draws(&s.Rand)
	c.Range("Turn", int(s.Turn), 1, HalfTurns)
	// Every clear of a seat's own turns adds one; positions that training starts from have up to three more.
	c.Range("Combo", int(s.Combo), 0, int(s.Turn)/2+3)
	c.Range("Reason", int(s.Reason), 0, int(Illegal))
	c.Range("Winner", int(s.Winner), int(Nobody), 1)
	c.Want(s.Reason != Running || s.Winner == Nobody, "Winner is %d, want %d while Reason is 0", s.Winner, Nobody)
	for k, p := range s.Deal {
		if int(p) >= len(permutations) {
			c.Want(false, "Deal[%d] is %d, want 0 to %d", k, p, len(permutations)-1)
		}
	}
	for seat, a := range s.Last {
		c.Want(a == env.None || a < Actions, "Last[%d] is %d, want an action or %d", seat, a, env.None)
		most := int32(s.Turn) * int32(battlePoints[4]+int(s.Turn)/2) // a half-turn earns the combo at most, and this
		c.Want(s.Points[seat] >= 0 && s.Points[seat] <= most, "Points[%d] is %d, want 0 to %d", seat, s.Points[seat], most)
	}
	for x, column := range s.Cells {
		if column>>Height != 0 || x >= Width && column != 0 {
			c.Want(false, "Cells[%d] is %#x, want cells on the board", x, column)
		}
	}
	full := s.Cells.Full(Width)
	c.Want(full == 0, "Cells have the full rows %#x, want none: full rows are cleared at once", full)
	if c.Err == nil && s.Reason == Running {
		c.Want(s.open(), "Cells leave no placement, want Reason to be %d", Overflow)
	}
	return c.Err
}
