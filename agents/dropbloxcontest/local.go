package dropbloxcontest

import (
	"context"
	"time"

	"blockyard/env/dropblox"
)

// A Table is where one game is played.
type Table interface {
	// State is the state as the program is shown it.
	State() []byte
	// Turns is how many turns were carried out, Score what they brought.
	Turns() int
	Score() int
	// Over reports whether the game is over, and why.
	Over() (Reason, bool)
	// Left is what is left of the game's clock.
	Left() time.Duration
	// Hand hands in the commands of a turn. Late ones end the game instead.
	Hand(ctx context.Context, commands []dropblox.Command) error
	// Expire ends the game because its time is over.
	Expire()
}

// A Local is a game dealt here.
type Local struct {
	Game  dropblox.State
	Began time.Time
	Clock time.Duration
	// Watch sees every turn before it is carried out. It may be nil.
	Watch func(s *dropblox.State, commands []dropblox.Command)

	expired bool
}

var _ Table = (*Local)(nil)

// NewLocal deals the game of a seed, any decimal integer, and starts its clock.
func NewLocal(seed string, clock time.Duration) (*Local, error) {
	l := &Local{Began: time.Now(), Clock: clock}
	if err := l.Game.ResetSeed(seed); err != nil {
		return nil, err
	}
	return l, nil
}

// State implements Table.
func (l *Local) State() []byte { return text(&l.Game) }

// text is a state as JSON.
func text(s *dropblox.State) []byte {
	p := s.Position()
	return p.AppendJSON(make([]byte, 0, 4096))
}

// Turns implements Table.
func (l *Local) Turns() int { return int(l.Game.Turns) }

// Score implements Table.
func (l *Local) Score() int { return l.Game.Score(0) }

// Over implements Table.
func (l *Local) Over() (Reason, bool) {
	if l.expired {
		return Time, true
	}
	return Blocked, l.Game.Failed
}

// Left implements Table.
func (l *Local) Left() time.Duration { return l.Clock - time.Since(l.Began) }

// Hand implements Table.
func (l *Local) Hand(_ context.Context, commands []dropblox.Command) error {
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

// Expire implements Table.
func (l *Local) Expire() {
	l.expired = true
	l.Game.Expire()
}
