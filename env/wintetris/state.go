package wintetris

import (
	_ "embed"

	"blockyard/env"
)

// A Mode says what an action is.
type Mode uint8

// The modes, one per variant.
const (
	Placement Mode = iota
	Instant
	Ticks
)

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
func (s *State) Reset(seed uint64) { s.Start(seed) }

// Hide implements env.State. The pieces after the next one are hidden.
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
	case a == env.None:
		for s.Over == Running && !s.tick(0) {
		}
	default:
		s.Place(target(s.Piece, a), Parts)
	}
	s.End()
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
	c := env.Checker{Game: "wintetris"}
	c.Draws(&s.Rand)
	c.Range("Mode", int(s.Mode), 0, int(Ticks))
	c.Range("Over", int(s.Over), 0, int(Conflict))
	c.Range("Next", int(s.Next), 0, Kinds-1)
	c.Range("Piece.Kind", int(s.Piece.Kind), 0, Kinds-1)
	c.Range("Piece.Rot", int(s.Piece.Rot), 0, Rotations-1)
	c.Range("Lines", int(s.Lines), 0, min(mostLines, int(4*pieces+given)/Width))
	c.Range("Pieces", int(s.Pieces), 0, int(Width*lines+given)/4+1)
	c.Range("Points", int(s.Points), 0, int(300*lines*(1+lines/10)))
	c.Want(ticks <= uint64(pieces+1)*(Height+4), "Ticks is %d, want at most %d per piece", ticks, Height+4)
	c.Want(uint64(s.Conflicts) <= ticks, "Conflicts is %d, want at most Ticks, %d", s.Conflicts, ticks)
	c.Want(uint64(s.Blocked) <= 2*ticks, "Blocked is %d, want at most two per tick of %d", s.Blocked, ticks)
	for y, row := range s.Field {
		if row >= fullRow || y >= Height && row != 0 {
			c.Want(false, "Field[%d] is %#x, want cells in the field and no full row", y, row)
		}
	}
	if c.Err != nil || s.Over != Running {
		return c.Err
	}
	at := Spawn(s.Piece.Kind)
	c.Want(s.Mode == Ticks || s.Piece == at, "Piece is %v, want it where it appears: %v", s.Piece, at)
	c.Want(s.Piece.Y <= at.Y && s.Field.Fits(s.Piece),
		"Piece is %v, want it on empty cells at or below y %d", s.Piece, at.Y)
	return c.Err
}

// Rulebook is the rules of the game for people, as Markdown.
//
//go:embed RULES.md
var Rulebook string
