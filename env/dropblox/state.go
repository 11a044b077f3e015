package dropblox

import (
	"math/bits"

	"blockyard/env"
)

// A State is a position before a turn, or the final position.
type State struct {
	env.Rand
	Twister Twister            // the contest's random generator; all zero after Hide
	Veiled  bool               // Rand draws the blocks to come instead of Twister
	Failed  bool               // the game is over
	Blocks  [Known]uint16      // types of the block in play and of those after it
	Points  int32              // score
	Turns   int32              // turns played
	Cells   [Rows][Cols]uint16 // bitmap of the rules: 0, or 1 + type of the block that the square is from
	Taken   Field              // where Cells is not 0
}

// Reset implements env.State with the contest's game of that seed.
func (s *State) Reset(seed uint64) {
	key, n := [2]uint32{uint32(seed), uint32(seed >> 32)}, 2
	if key[1] == 0 {
		n = 1
	}
	s.begin(key[:n])
}

// ResetSeed is Reset for a seed of any size: decimal digits with or without a sign.
func (s *State) ResetSeed(seed string) error {
	key, err := Key(seed)
	if err == nil {
		s.begin(key)
	}
	return err
}

// begin starts a new game. Of its seven draws the second is discarded (rules §11.3).
func (s *State) begin(key []uint32) {
	*s = State{Rand: s.Rand}
	s.Restart(0)
	s.Twister.Seed(key)
	s.Blocks[0] = s.draw()
	s.draw()
	for k := 1; k < Known; k++ {
		s.Blocks[k] = s.draw()
	}
	s.End()
}

// draw returns the type of the next block: the forced one, or one from the generator at the current score.
func (s *State) draw() uint16 {
	r := &s.Rand
	var t uint16
	if r.Used < r.Forced {
		t = r.Queue[r.Used] % Types
	} else {
		t = s.deal()
	}
	if r.Used < env.MaxDraws {
		r.Queue[r.Used] = t
		r.Used++
	}
	return t
}

func (s *State) deal() uint16 {
	var p, u float64
	if s.Veiled {
		p = float64(s.Next()>>11) / (1 << 53)
		u = float64(s.Next()>>11) / (1 << 53)
	} else {
		p, u = s.Twister.Uniform(), s.Twister.Uniform()
	}
	return uint16(Draw(p, u, int(s.Points)))
}

// Hide implements env.State. Blocks after the known ones are hidden.
func (s *State) Hide(_ env.Seats, seed uint64) {
	s.Twister, s.Veiled, s.Forced = Twister{}, true, 0
	s.Seed(seed)
}

// CopyFrom implements env.State by one assignment. It panics if src is a State of another game.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// SeatCount implements env.State: it is always 1.
func (s *State) SeatCount() int { return 1 }

// Acting implements env.State: seat 0, until a block appears where squares are taken (rules §7).
func (s *State) Acting() env.Seats {
	if s.Failed {
		return 0
	}
	return 1
}

// Block returns the k-th known block where it appears. Block 0 is the one in play.
func (s *State) Block(k int) Block { return BlockOf(int(s.Blocks[k])) }

// Legal implements env.State: the places where the block in play can come to rest (rules §4.1).
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	if s.Failed || seat != 0 {
		return dst
	}
	var rest Poses
	s.rest(&rest)
	return rest.Actions(dst)
}

// MaskLegal implements env.Masker, with the places that Legal lists.
func (s *State) MaskLegal(_ int, mask []byte) {
	var rest Poses
	s.rest(&rest)
	rest.mask(mask)
}

// rest finds the legal actions.
func (s *State) rest(out *Poses) {
	if t := int(s.Blocks[0]); t < len(stocks) {
		stocks[t].shape.Rest(&s.Taken, out)
		return
	}
	b := s.Block(0)
	shape := NewShape(&b)
	shape.Rest(&s.Taken, out)
}

// Step implements env.State. None drops the block where it appears.
func (s *State) Step(m env.Moves) {
	s.Begin()
	t, a := int(s.Blocks[0]), m[0]
	if a != env.None && t < len(stocks) {
		p := At(a)
		s.settle(t, Cell{int8(p.I), int8(p.J)}, stocks[t].shape.Turn[p.R&3].Offsets[:stocks[t].block.Size])
	} else {
		b := BlockOf(t)
		if a == env.None {
			b.Drop(&s.Taken)
		} else {
			p := At(a)
			b.Center = Cell{int8(p.I), int8(p.J)}
			b.rotate(p.R)
		}
		s.settle(t, b.Center, b.Cells())
	}
	s.End()
}

// settle ends a turn with the block at rest (rules §5, from step 3) and returns the number of rows removed.
func (s *State) settle(t int, center Cell, cells []Cell) (rows int) {
	for _, o := range cells {
		i, j := center.I+o.I, center.J+o.J
		s.Cells[i][j] = uint16(t) + 1
		s.Taken[j] |= 1 << uint(i)
	}
	full := s.Taken.Full(Cols)
	if full != 0 {
		rows = bits.OnesCount64(full)
		s.remove(full)
		s.Points += 1<<uint(rows) - 1
	}
	s.Turns++
	copy(s.Blocks[:], s.Blocks[1:])
	s.Blocks[Known-1] = s.draw()
	if t := int(s.Blocks[0]); t < len(stocks) {
		s.Failed = !stocks[t].block.Fits(&s.Taken)
	} else {
		next := BlockOf(t)
		s.Failed = !next.Fits(&s.Taken)
	}
	return rows
}

// remove removes full rows. The squares above them move down.
func (s *State) remove(full uint64) {
	s.Taken.Clear(full)
	to := Rows - 1
	for i := to; i >= 0; i-- {
		if full>>uint(i)&1 == 0 {
			s.Cells[to] = s.Cells[i]
			to--
		}
	}
	for ; to >= 0; to-- {
		s.Cells[to] = [Cols]uint16{}
	}
}

// Score implements env.State with the points of rules §6.
func (s *State) Score(int) int { return int(s.Points) }

// Result implements env.State. There is no opponent.
func (s *State) Result(int) float32 { return 0 }

// mostEarned is what one turn can earn: a block of MaxSize squares fills as many rows. maxPoints fits into Points.
const mostEarned, maxPoints = 1<<MaxSize - 1, 1 << 30

// Check implements env.State. It bounds the points by the turns, and compares the two forms of the board, Cells and
// Taken.
func (s *State) Check() error {
	c := env.Checker{Game: "dropblox"}
	c.Draws(&s.Rand)
	// Every turn adds a square or more, every full row a point or more; starts of training have up to mostEarned more.
	c.Range("Points", int(s.Points), 0, min(maxPoints, mostEarned*(int(s.Turns)+1)))
	c.Range("Turns", int(s.Turns), 0, Rows*Cols+Cols*int(s.Points))
	c.Range("Twister.At", int(s.Twister.At), 0, words)
	for k, t := range s.Blocks {
		c.Want(t < Types, "Blocks[%d] is %d, want 0 to %d", k, t, Types-1)
	}
	for i := range s.Cells {
		for j, v := range s.Cells[i] {
			if v > Types || v != 0 != (s.Taken[j]>>uint(i)&1 != 0) {
				c.Want(false, "Cells[%d][%d] is %d, want 0 to %d, and 0 where Taken has no square", i, j, v, Types)
			}
		}
	}
	for j, column := range s.Taken {
		c.Want(column&^within == 0, "Taken[%d] is %#x, want squares on the board", j, column)
	}
	c.Want(s.Taken.Full(Cols) == 0, "Taken has full rows %#x, want none", s.Taken.Full(Cols))
	if c.Err == nil && !s.Failed {
		b := s.Block(0)
		c.Want(b.Fits(&s.Taken), "Blocks[0] is %d and has no room, want Failed to be true", s.Blocks[0])
	}
	return c.Err
}
