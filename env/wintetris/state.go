package wintetris

import (
	_ "embed"
	"math"

	"blockyard/env"
)

// A Mode says what an action is.
type Mode uint8

// The modes, one per variant.
const (
	Placement Mode = iota
	Instant
	Ticks
	Paper10
	Paper20
)

// Paper reports whether the piece in play falls from above the field, and the next one is not drawn yet (rules §15).
func (m Mode) Paper() bool { return m >= Paper10 }

// Rows returns the number of rows of the field.
func (m Mode) Rows() int {
	if m == Paper10 {
		return paperRows
	}
	return Height
}

const paperRows = 10 // of Paper10

// A State is a position in which the player must act, or the final position.
type State struct {
	Engine
	Mode Mode
}

var (
	_ env.Masker = (*State)(nil)
	_ env.Marker = (*State)(nil)
)

// Reset implements env.State. The seed is that of the generator of the rules.
func (s *State) Reset(seed uint64) {
	if !s.Mode.Paper() {
		s.Start(seed)
		return
	}
	s.Engine = Engine{Rand: s.Rand}
	s.Restart(seed)
	s.appear()
	s.End()
}

// Hide implements env.State. The pieces after the next one are hidden; in the paper's modes, all but the one in play.
func (s *State) Hide(_ env.Seats, seed uint64) { s.Seed(seed) }

// CopyFrom implements env.State by one assignment. It panics if src is a State of another game.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// SeatCount implements env.State: it is always 1.
func (s *State) SeatCount() int { return 1 }

// Acting implements env.State: seat 0, until the game is over (rules §7).
func (s *State) Acting() env.Seats {
	if s.Over != Running {
		return 0
	}
	return 1
}

// Step implements env.State. None lets the piece come down by itself; in the mode Ticks, for one tick.
func (s *State) Step(m env.Moves) {
	s.Begin()
	a := m[0]
	switch {
	case s.Mode == Ticks && a == env.None:
		s.tick(0)
	case s.Mode == Ticks:
		s.tick(Bits(a))
	case s.Mode == Instant:
		if a != env.None {
			s.Piece = target(s.Piece, a)
		}
		s.Ticks++
		s.Piece = s.Field.Fall(s.Piece)
		s.lock()
	case s.Mode.Paper():
		s.fall(a)
	case a == env.None:
		for s.Over == Running && !s.tick(0) {
		}
	default:
		s.Place(target(s.Piece, a), Parts)
	}
	s.End()
}

// fall drops the piece from above the field (rules §15). A piece that does not end within it removes no rows.
func (s *State) fall(a env.Action) {
	if a != env.None {
		s.Piece = target(s.Piece, a)
	}
	s.Ticks++
	s.Pieces++
	s.Piece.Y = int8(s.Field.Top())
	if s.Piece = s.Field.Fall(s.Piece); s.Piece.Top() >= s.Mode.Rows() {
		s.Over = LockOut
		return
	}
	s.Lines += int32(s.Field.Put(s.Piece))
	s.appear()
}

// appear draws the piece in play, above all rows.
func (s *State) appear() { s.Piece = above(s.draw()) }

func above(kind uint8) Block {
	b := Spawn(kind)
	b.Y = Height
	return b
}

// Score implements env.State with the number of lines.
func (s *State) Score(int) int { return int(s.Lines) }

// Result implements env.State: 0 while the game runs and -1 at its end, as every game ends with a full field.
func (s *State) Result(int) float32 {
	if s.Over != Running {
		return -1
	}
	return 0
}

// Check implements env.State. It bounds lines, pieces, points and ticks by one another.
func (s *State) Check() error {
	// A piece has four cells and falls a row per tick; a row takes ten cells, and earns up to 300 points a level.
	// Positions that training starts from have up to a field of cells more. mostLines keeps Points in its type.
	const given, mostLines = Width * Height, 1 << 28
	lines, pieces, ticks := int64(s.Lines), int64(s.Pieces), s.Ticks
	most, rows, paper := int64(mostLines), s.Mode.Rows(), s.Mode.Paper()
	points := 300 * lines * (1 + lines/10)
	at := Spawn(s.Piece.Kind % Kinds)
	if paper {
		most, points, at = math.MaxInt32, 0, above(s.Piece.Kind%Kinds)
	}
	c := env.Checker{Game: "wintetris"}
	c.Draws(&s.Rand)
	c.Range("Mode", int(s.Mode), 0, int(Paper20))
	c.Range("Over", int(s.Over), 0, int(Conflict))
	c.Range("Next", int(s.Next), 0, Kinds-1)
	c.Range("Piece.Kind", int(s.Piece.Kind), 0, Kinds-1)
	c.Range("Piece.Rot", int(s.Piece.Rot), 0, Rotations-1)
	c.Range("Lines", int(s.Lines), 0, int(min(most, (4*pieces+given)/Width)))
	// The last piece may have locked above the field.
	c.Range("Pieces", int(s.Pieces), 0, int(Width*lines+s.Field.count())/4+min(1, int(s.Over)))
	c.Range("Points", int(s.Points), 0, int(points))
	c.Want(!paper || s.Next == 0 && s.Over <= LockOut && s.Over != BlockOut,
		"Next is %d and Over %d, want 0, and 0 or %d", s.Next, s.Over, LockOut)
	c.Want(ticks <= uint64(pieces+1)*(Height+4), "Ticks is %d, want at most %d per piece", ticks, Height+4)
	c.Want(uint64(s.Conflicts) <= ticks, "Conflicts is %d, want at most Ticks, %d", s.Conflicts, ticks)
	c.Want(uint64(s.Blocked) <= 2*ticks, "Blocked is %d, want at most two per tick of %d", s.Blocked, ticks)
	for y, row := range s.Field {
		if row >= fullRow || y >= rows && row != 0 {
			c.Want(false, "Field[%d] is %#x, want cells in the field and no full row", y, row)
		}
	}
	if c.Err != nil || s.Over != Running {
		return c.Err
	}
	c.Want(s.Mode == Ticks || s.Piece == at, "Piece is %v, want it where it appears: %v", s.Piece, at)
	c.Want(s.Piece.Y <= at.Y && s.Field.Fits(s.Piece),
		"Piece is %v, want it on empty cells at or below y %d", s.Piece, at.Y)
	return c.Err
}

// Rulebook is the rules of the game for people, as Markdown.
//
//go:embed RULES.md
var Rulebook string
