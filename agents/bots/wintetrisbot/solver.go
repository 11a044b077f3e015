package wintetrisbot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// A Rater says what the resting places of a piece are worth.
type Rater interface {
	// Rate writes to out, for each of moves, all within the field f, what it is worth to put
	// the piece there and the next piece, of kind next, where it does best after that.
	Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64)
}

// A Solver is the demo solver (rules §13): it lists the resting places in a piece's first
// tick, rates a part of them in each of the first ticks and then steers for the first of the
// best. It is a wintetris.Solver, plays one game, and is not safe for concurrent use.
type Solver struct {
	rater Rater
	parts int
	part  int // how many are rated
	n     int
	moves [wintetris.MaxMoves]wintetris.Block
	best  int // index of the best so far, -1 if none
	value float64
	todo  [wintetris.MaxMoves]wintetris.Block // of a part, what is to be rated
	from  [wintetris.MaxMoves]int             // and which moves those are
	worth [wintetris.MaxMoves]float64
}

// MaxParts is the most parts a solver splits its work into.
const MaxParts = 100

// NewSolver returns a solver that splits its work over 1 to MaxParts ticks; the demo solver's
// number is wintetris.Parts.
func NewSolver(r Rater, parts int) *Solver { return &Solver{rater: r, parts: parts, best: -1} }

// Update implements wintetris.Solver: the bits for this tick (rules §13.5). A piece whose first
// tick the solver has not seen, or which does not fit where it is, is left to itself.
func (s *Solver) Update(f *wintetris.Field, now, next wintetris.Block, fresh bool) wintetris.Bits {
	if fresh {
		s.begin(f, now)
	}
	if s.part < s.parts && s.n > 0 {
		s.rate(f, next.Kind)
	}
	if s.part < s.parts || s.best < 0 {
		return 0
	}
	return wintetris.Toward(now, s.moves[s.best])
}

// Choose rates all resting places of a piece at once and returns the first of the best; ok is
// false if there is none within the field. If c stops it, it chooses from the parts rated so far.
func (s *Solver) Choose(f *wintetris.Field, now, next wintetris.Block, c search.Clock) (
	target wintetris.Block, ok bool,
) {
	s.begin(f, now)
	for s.n > 0 && s.part < s.parts && (s.best < 0 || !c.Up()) {
		s.rate(f, next.Kind)
	}
	target, _, ok = s.Target()
	return target, ok
}

// Target returns the best resting place so far and its value; ok is false if there is none.
func (s *Solver) Target() (target wintetris.Block, value float64, ok bool) {
	if s.best < 0 {
		return target, 0, false
	}
	return s.moves[s.best], s.value, true
}

func (s *Solver) begin(f *wintetris.Field, now wintetris.Block) {
	s.part, s.n, s.best = 0, 0, -1
	if f.Fits(now) {
		s.n = len(f.Moves(now, s.moves[:0]))
	}
}

// rate rates the next part of the list. Places with a cell above the field are no choice; of
// two that cover the same cells the first is rated, since the other could only be as good.
func (s *Solver) rate(f *wintetris.Field, next uint8) {
	k := 0
	for i := s.part * s.n / s.parts; i < (s.part+1)*s.n/s.parts; i++ {
		if m := s.moves[i]; m.Inside() && !s.twice(i) {
			s.todo[k], s.from[k] = m, i
			k++
		}
	}
	s.part++
	s.rater.Rate(f, s.todo[:k], next, s.worth[:k])
	for j, v := range s.worth[:k] {
		if s.best < 0 || v > s.value {
			s.best, s.value = s.from[j], v
		}
	}
}

// twice reports whether an earlier entry covers the cells of entry i.
func (s *Solver) twice(i int) bool {
	first := s.moves[i].First()
	if first.Rot == s.moves[i].Rot {
		return false
	}
	for _, m := range s.moves[:i] {
		if m.Rot == first.Rot && m.X == first.X {
			return true
		}
	}
	return false
}

// An Agent plays any variant of WinTetris by a Solver: in wintetris:tick it answers every tick, elsewhere it names
// the place the solver steers for. It is not safe for concurrent use, and in wintetris:tick it belongs to one game.
type Agent struct {
	solver *Solver
	value  float64
	ticks  bool // it has answered a tick, so that the solver follows a piece
}

// NewAgent returns an Agent that plays by s.
func NewAgent(s *Solver) *Agent { return &Agent{solver: s} }

// Act implements env.Agent. With no place to steer for the answer is env.None, or no bits.
func (a *Agent) Act(ctx context.Context, state env.State, _ int) (env.Action, error) {
	s := state.(*wintetris.State)
	if s.Mode == wintetris.Ticks {
		a.ticks = true
		bits := a.solver.Update(&s.Field, s.Piece, s.Upcoming(), s.New)
		_, a.value, _ = a.solver.Target()
		return env.Action(bits), nil
	}
	target, ok := a.solver.Choose(&s.Field, s.Piece, s.Upcoming(), search.NewClock(ctx))
	if !ok {
		return env.None, nil
	}
	_, a.value, _ = a.solver.Target()
	return target.Action(), nil
}

// Value is what the place steered for is worth, in the units of the rater.
func (a *Agent) Value() float32 { return float32(a.value) }

// An Agent can go on elsewhere: it is a vec.Resumable. In wintetris:tick its memory is what its solver knows of
// the piece in play, in little-endian order: number of parts rated and index of the best place (2 bytes each; 0xFFFF
// is none), its value (8), kind of the piece (1), and rotation, column and row of every place (3). In the
// other games every choice follows from the position, so that it has none.

const (
	placesAt = 13 // offset of the first place
	placeLen = 3
)

// AppendMemory appends what the solver knows of the piece in play.
func (a *Agent) AppendMemory(dst []byte) ([]byte, error) {
	s := a.solver
	if !a.ticks {
		return dst, nil
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.part))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.best))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.value))
	dst = append(dst, s.moves[0].Kind)
	for _, m := range s.moves[:s.n] {
		dst = append(dst, m.Rot, uint8(m.X), uint8(m.Y))
	}
	return dst, nil
}

// RestoreMemory reads what AppendMemory wrote.
func (a *Agent) RestoreMemory(src []byte) error {
	s := a.solver
	if len(src) == 0 {
		return nil
	}
	n := (len(src) - placesAt) / placeLen
	if len(src) < placesAt || len(src) != placesAt+n*placeLen || n > wintetris.MaxMoves {
		return fmt.Errorf("solver: memory of %d bytes, want 0, or %d and %d for each of up to %d places",
			len(src), placesAt, placeLen, wintetris.MaxMoves)
	}
	part, best := int(binary.LittleEndian.Uint16(src)), int(int16(binary.LittleEndian.Uint16(src[2:])))
	if part > s.parts || best < -1 || best >= n {
		return fmt.Errorf("solver: memory with %d parts rated and place %d the best, want up to %d and -1 to %d",
			part, best, s.parts, n-1)
	}
	var moves [wintetris.MaxMoves]wintetris.Block
	for i := range moves[:n] {
		p := src[placesAt+i*placeLen:]
		m := wintetris.Block{Kind: src[placesAt-1], Rot: p[0], X: int8(p[1]), Y: int8(p[2])}
		if m.Kind >= wintetris.Kinds || m.Rot >= wintetris.Rotations || m.Y > wintetris.Height ||
			!new(wintetris.Field).Fits(m) {
			return errors.New("solver: memory with a place outside of the field")
		}
		moves[i] = m
	}
	if n == 0 && src[placesAt-1] >= wintetris.Kinds {
		return fmt.Errorf("solver: memory of a piece of kind %d, want 0 to %d", src[placesAt-1], wintetris.Kinds-1)
	}
	s.part, s.best, s.n, s.moves = part, best, n, moves
	s.value = math.Float64frombits(binary.LittleEndian.Uint64(src[4:]))
	s.moves[0].Kind = src[placesAt-1]
	a.ticks = true
	return nil
}
