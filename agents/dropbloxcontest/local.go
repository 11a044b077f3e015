package dropbloxcontest

import (
	"context"
	"time"

	"blockyard/env/dropblox"
)

// A Game is one game in progress.
type Game interface {
	// Status returns how far the game has come.
	Status() Status
	// Submit plays the commands of a turn. Commands that come too late end the game instead.
	Submit(ctx context.Context, commands []dropblox.Command) error
	// Expire ends the game because its time is over.
	Expire()
}

// A Status is how far a game has come.
type Status struct {
	State  []byte // as JSON, as the program gets it
	Turns  int    // played
	Score  int
	Over   bool
	Reason Reason // why it is over
	Left   time.Duration
}

// A Local is a game on this machine.
type Local struct {
	Game  dropblox.State
	Began time.Time
	Clock time.Duration
	// Watch is called with every turn before it is played. It may be nil.
	Watch func(s *dropblox.State, commands []dropblox.Command)

	expired bool
}

var _ Game = (*Local)(nil)

// NewLocal creates the game of a seed, any decimal integer, and starts its clock.
func NewLocal(seed string, clock time.Duration) (*Local, error) {
	l := &Local{Began: time.Now(), Clock: clock}
	if err := l.Game.ResetSeed(seed); err != nil {
		return nil, err
	}
	return l, nil
}

// Status implements Game.
func (l *Local) Status() Status {
	return Status{
		JSON(&l.Game), int(l.Game.Turns), l.Game.Score(0), l.Game.Failed, why(l.expired), l.Clock - time.Since(l.Began),
	}
}

// why returns why a game is over.
func why(expired bool) Reason {
	if expired {
		return Time
	}
	return Blocked
}

// JSON returns a state as a program gets it.
func JSON(s *dropblox.State) []byte {
	p := s.Position()
	return p.AppendJSON(make([]byte, 0, 4096))
}

// Submit implements Game.
func (l *Local) Submit(_ context.Context, commands []dropblox.Command) error {
	if time.Since(l.Began) > l.Clock {
		l.Expire()
		return nil
	}
	if l.Watch != nil {
		l.Watch(&l.Game, commands)
	}
	l.Game.Play(commands)
	return nil
}

// Expire implements Game.
func (l *Local) Expire() {
	l.expired = true
	l.Game.Expire()
}
