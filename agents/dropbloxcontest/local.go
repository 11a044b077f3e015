package dropbloxcontest

import (
	"context"
	"time"

	"blockyard/env/dropblox"
)

// A Game is one game in progress.
type Game interface {
	// State returns the state as JSON, as the program gets it.
	State() []byte
	// Turns returns the number of turns played, and Score their points.
	Turns() int
	Score() int
	// Over reports whether the game is over, and why.
	Over() (Reason, bool)
	// Left returns the time left on the game's clock.
	Left() time.Duration
	// Submit plays the commands of a turn. Commands that come too late end the game instead.
	Submit(ctx context.Context, commands []dropblox.Command) error
	// Expire ends the game because its time is over.
	Expire()
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

// State implements Game.
func (l *Local) State() []byte { return text(&l.Game) }

// text is a state as JSON.
func text(s *dropblox.State) []byte {
	p := s.Position()
	return p.AppendJSON(make([]byte, 0, 4096))
}

// Turns implements Game.
func (l *Local) Turns() int { return int(l.Game.Turns) }

// Score implements Game.
func (l *Local) Score() int { return l.Game.Score(0) }

// Over implements Game.
func (l *Local) Over() (Reason, bool) {
	if l.expired {
		return Time, true
	}
	return Blocked, l.Game.Failed
}

// Left implements Game.
func (l *Local) Left() time.Duration { return l.Clock - time.Since(l.Began) }

// Submit implements Game.
func (l *Local) Submit(_ context.Context, commands []dropblox.Command) error {
	if l.Left() < 0 {
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
