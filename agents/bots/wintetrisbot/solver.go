package wintetrisbot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// A Rater says what the resting places of a piece are worth.
type Rater interface {
	// Rate writes to out, for each of moves, all within the field f, what it is worth to put
	// the piece there and the next piece, of kind next, where it does best after that. Where the next piece is not
	// known, next is wintetris.Kinds.
	Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64)
}

const unknown = wintetris.Kinds // as the kind of the next piece

// A Solver is the demo solver (rules §13): it rates a part of the resting places in each of a piece's first ticks, then
// steers for the first of the best. It plays one game, and is not safe for concurrent use.
type Solver struct {
	rater Rater
	parts int
	part  int // how many are rated
	n     int
	rows  int // of the field
	moves [wintetris.MaxMoves]wintetris.Block
	best  int // index of the best so far, -1 if none
	value float64
	todo  [wintetris.MaxMoves]wintetris.Block // of a part, what is to be rated
	from  [wintetris.MaxMoves]int             // and which moves those are
	worth [wintetris.MaxMoves]float64
}

const MaxParts = 100 // the most parts a solver splits its work into

// NewSolver splits the work over 1 to MaxParts ticks, as wintetris.Parts of the demo solver.
func NewSolver(r Rater, parts int) *Solver {
	return &Solver{rater: r, parts: parts, best: -1, rows: wintetris.Height}
}

// Update returns the bits for this tick (rules §13.5). A piece not seen from its first tick is left to itself.
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

// choose rates all resting places at once, or until c stops it, and returns the first of the best within the field. The
// kind of the next piece may be unknown.
func (s *Solver) choose(f *wintetris.Field, next uint8, c search.Clock) (target wintetris.Block, ok bool) {
	for s.n > 0 && s.part < s.parts && (s.best < 0 || !c.Up()) {
		s.rate(f, next)
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
	s.part, s.n, s.best, s.rows = 0, 0, -1, wintetris.Height
	if f.Fits(now) {
		s.n = len(f.Moves(now, s.moves[:0]))
	}
}

// beginState begins with the position of any variant, and returns the kind of the next piece, or unknown.
func (s *Solver) beginState(at *wintetris.State) (next uint8) {
	if !at.Mode.Paper() {
		s.begin(&at.Field, at.Piece)
		return at.Next
	}
	s.part, s.best, s.rows = 0, -1, at.Mode.Rows()
	s.n = len(at.Field.Drops(at.Piece.Kind, s.moves[:0]))
	return unknown
}

// rate rates the next part of the list, without places above the field and those that cover the cells of another.
func (s *Solver) rate(f *wintetris.Field, next uint8) {
	k := 0
	for i := s.part * s.n / s.parts; i < (s.part+1)*s.n/s.parts; i++ {
		if m := s.moves[i]; m.Top() < s.rows && !s.twice(i) {
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

// An Agent plays any variant by a Solver: ticks in wintetris:tick, elsewhere the place that the solver steers for.
type Agent struct {
	solver *Solver
	value  float64
	ticks  bool // it has answered a tick, so that the solver follows a piece
}

// NewAgent returns an Agent that plays one game by s, which it takes over.
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
	target, ok := a.solver.choose(&s.Field, a.solver.beginState(s), search.NewClock(ctx))
	if !ok {
		return env.None, nil
	}
	_, a.value, _ = a.solver.Target()
	return target.Action(), nil
}

// Value is what the place steered for is worth, in the units of the rater.
func (a *Agent) Value() float32 { return float32(a.value) }

// A memory is what the solver knows of the piece in play, in little-endian order, before 3 bytes for every place:
// rotation, column, row. An Agent is a vec.Resumable; only wintetris:tick needs a memory.
type memory struct {
	Part  uint16 // parts rated
	Best  int16  // index of the best place; -1 is none
	Value float64
	Kind  uint8
}

const placeLen = 3

var placesAt = binary.Size(memory{}) // offset of the first place

// AppendMemory appends what the solver knows of the piece in play: nothing unless the agent has answered a tick.
func (a *Agent) AppendMemory(dst []byte) ([]byte, error) {
	s := a.solver
	if !a.ticks {
		return dst, nil
	}
	is := memory{uint16(s.part), int16(s.best), s.value, s.moves[0].Kind}
	dst, err := binary.Append(dst, binary.LittleEndian, is)
	for _, m := range s.moves[:s.n] {
		dst = append(dst, m.Rot, uint8(m.X), uint8(m.Y))
	}
	return dst, err
}

// RestoreMemory reads what AppendMemory wrote. It returns an error, and changes nothing, if that cannot have been so.
func (a *Agent) RestoreMemory(src []byte) error {
	s := a.solver
	if len(src) == 0 {
		return nil
	}
	var is memory
	n := (len(src) - placesAt) / placeLen
	if _, err := binary.Decode(src, binary.LittleEndian, &is); err != nil || len(src) != placesAt+n*placeLen ||
		n > wintetris.MaxMoves {
		return fmt.Errorf("solver: memory of %d bytes, want 0, or %d and %d for each of up to %d places",
			len(src), placesAt, placeLen, wintetris.MaxMoves)
	}
	if int(is.Part) > s.parts || is.Best < -1 || int(is.Best) >= n {
		return fmt.Errorf("solver: memory with %d parts rated and place %d the best, want up to %d and -1 to %d",
			is.Part, is.Best, s.parts, n-1)
	}
	if is.Kind >= wintetris.Kinds {
		return fmt.Errorf("solver: memory of a piece of kind %d, want 0 to %d", is.Kind, wintetris.Kinds-1)
	}
	var moves [wintetris.MaxMoves]wintetris.Block
	moves[0].Kind = is.Kind
	for i := range moves[:n] {
		p := src[placesAt+i*placeLen:]
		m := wintetris.Block{Kind: is.Kind, Rot: p[0], X: int8(p[1]), Y: int8(p[2])}
		if m.Rot >= wintetris.Rotations || m.Y > wintetris.Height || !new(wintetris.Field).Fits(m) {
			return errors.New("solver: memory with a place outside of the field")
		}
		moves[i] = m
	}
	s.part, s.best, s.n, s.moves, s.value = int(is.Part), int(is.Best), n, moves, is.Value
	s.rows = wintetris.Height
	a.ticks = true
	return nil
}
