package dropblox

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/dropblox"
)

type Game interface {
	// Status returns how far the game has come.
	Status() Status
	// Submit plays the commands of a turn. Commands that come too late end the game instead.
	Submit(ctx context.Context, commands []dropblox.Command) error
	// Expire ends the game because its time is over.
	Expire()
}

type Status struct {
	State  []byte // as JSON, as the program gets it
	Turns  int    // played
	Score  int
	Over   bool
	Reason Reason // why it is over
	Left   time.Duration
}

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

func (l *Local) Status() Status {
	return Status{
		JSON(&l.Game), int(l.Game.Turns), l.Game.Score(0), l.Game.Failed, why(l.expired), l.Clock - time.Since(l.Began),
	}
}

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

func (l *Local) Expire() {
	l.expired = true
	l.Game.Expire()
}

type LocalGame struct {
	Player         // Play sets Game, History and Margin
	ID      string // in the game's history
	Seed    string // any decimal integer
	Clock   time.Duration
	Folders string // folder for the game's history; "" keeps none
}

// Play plays the game. The record of a game that has begun is returned also with an error.
func (g LocalGame) Play(ctx context.Context) (Result, *Recorder, error) {
	game, err := NewLocal(g.Seed, g.Clock)
	var rec *Recorder
	if err == nil {
		g.Game, g.Margin = game, Margin
		meta := Meta{ID: g.ID, Seed: g.Seed, Program: g.Program.Name, Mode: "local", Started: game.Began}
		g.History, err = CreateFolder(g.Folders, meta, nil)
	}
	if err == nil {
		rec, err = Record(game, g.Seed, "exec:"+g.Program.Name)
	}
	if err != nil {
		return Result{Reason: Failed}, nil, err
	}
	r, err := g.Player.Play(ctx)
	return r, rec, err
}

// A Recorder turns a local game into a record of actions.
type Recorder struct {
	rec  *record.Record
	err  error
	last dropblox.State // without the effects of the clock
}

// Record returns a recorder for a game that has not begun. who names the program in the record.
func Record(l *Local, seed, who string) (*Recorder, error) {
	n, ok := new(big.Int).SetString(seed, 10)
	if !ok {
		return nil, fmt.Errorf("seed %.20q: want a decimal integer", seed)
	}
	r := &Recorder{last: l.Game, rec: record.New(dropblox.Game, 0, []string{who})}
	if n.Abs(n).IsUint64() {
		r.rec.Seed = n.Uint64()
	} else if start, err := env.Encode(nil, &l.Game); err == nil { // too large for the seed of a record
		r.rec.Start = start
	} else {
		return nil, err
	}
	l.Watch = func(s *dropblox.State, commands []dropblox.Command) {
		r.last = *s
		r.last.Play(commands)
		a, ok := s.ActionTo(&r.last)
		if !ok && r.err == nil {
			r.err = fmt.Errorf("turn %d: no action does what the commands %v do", s.Turns, commands)
		}
		r.rec.Add(s.Acting(), env.Alone(0, a))
	}
	return r, nil
}

// End returns the record of a game that is over, or was stopped early.
func (r *Recorder) End(reason Reason) (*record.Record, error) {
	r.rec.End(&r.last)
	r.rec.Meta = map[string]string{"reason": string(reason)}
	if r.err == nil {
		r.err = record.Check(dropblox.Game, r.rec)
	}
	if r.err != nil {
		return nil, fmt.Errorf("the game as actions: %w", r.err)
	}
	return r.rec, nil
}
