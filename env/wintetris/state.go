package wintetris

import (
	"errors"

	"blockyard/env"
)

// A Mode is what one choice is.
type Mode uint8

// The modes, one a variant.
const (
	Placement Mode = iota
	Instant
	Ticks
)

// A State is a position where the player must choose, or the end of a game.
type State struct {
	Engine
	Mode Mode
}

var (
	_ env.State  = (*State)(nil)
	_ env.Masker = (*State)(nil)
	_ env.Marker = (*State)(nil)
)

// Reset implements env.State: seed is where the rules' generator starts.
func (s *State) Reset(seed uint64) { s.Start(seed) }

// Hide implements env.State: the pieces after the next one are hidden.
func (s *State) Hide(_ env.Seats, seed uint64) { s.Seed(seed) }

// CopyFrom implements env.State.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// SeatCount implements env.State.
func (s *State) SeatCount() int { return 1 }

// Acting implements env.State.
func (s *State) Acting() env.Seats {
	if s.Over != Running {
		return 0
	}
	return 1
}

// Step implements env.State. None lets the piece come down by itself, a tick of it in the
// mode of ticks.
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
		s.Wait()
	default:
		s.Place(target(s.Piece, a), Parts)
	}
	s.End()
}

// Score implements env.State: lines.
func (s *State) Score(int) int { return int(s.Lines) }

// Result implements env.State.
func (s *State) Result(int) float32 {
	if s.Over != Running {
		return -1
	}
	return 0
}

// Check implements env.State.
func (s *State) Check() error {
	const most = 1 << 30
	switch {
	case s.Mode > Ticks || s.Over > Conflict:
		return errors.New("wintetris: no such mode or end")
	case s.Next >= Kinds || !s.Piece.valid():
		return errors.New("wintetris: no such piece")
	case s.Forced > env.MaxDraws || s.Used > env.MaxDraws:
		return errors.New("wintetris: draw queue out of range")
	case s.Lines < 0 || s.Lines > most || s.Pieces < 0 || s.Pieces > most || s.Points < 0 || s.Points > most*most:
		return errors.New("wintetris: lines, pieces or points out of range")
	}
	for y, row := range s.Field {
		if row >= fullRow || y >= Height && row != 0 {
			return errors.New("wintetris: a full row, or a cell outside the field")
		}
	}
	if s.Over != Running {
		return nil
	}
	if at := Spawn(s.Piece.Kind); s.Mode != Ticks && s.Piece != at {
		return errors.New("wintetris: the piece is not where it appears")
	} else if s.Piece.Y > at.Y || !s.Field.Fits(s.Piece) {
		return errors.New("wintetris: the piece is outside or on filled cells")
	}
	return nil
}
