package dropbloxcontest

import (
	"context"
	"time"

	"blockyard/agents/dropbloxcontest/history"
	"blockyard/agents/dropbloxcontest/programs"
)

// A LocalGame is a program's game of one seed on this machine.
type LocalGame struct {
	ID      string // in the game's history
	Seed    string // any decimal integer
	Clock   time.Duration
	Program *programs.Program
	History string           // folder for the game's folder; "" keeps none
	Console *Console         // nil prints nothing
	Turns   int              // the game ends after this many; 0 is no limit
	Each    func(far Result) // called after every turn; may be nil
}

// Play plays the game. The record of a game that has begun is returned also with an error.
func (g LocalGame) Play(ctx context.Context) (Result, *Recorder, error) {
	game, err := NewLocal(g.Seed, g.Clock)
	if err != nil {
		return Result{Reason: Failed}, nil, err
	}
	f, err := history.Create(g.History, history.Meta{
		ID: g.ID, Seed: g.Seed, Program: g.Program.Name, Mode: "local", Started: game.Began,
	})
	if err != nil {
		return Result{Reason: Failed}, nil, err
	}
	rec, err := Record(game, g.Seed, "exec:"+g.Program.Name)
	if err != nil {
		return Result{Reason: Failed}, nil, err
	}
	p := Player{
		Program: g.Program, Game: game, History: f, Console: g.Console,
		Turns: g.Turns, Margin: Margin, Each: g.Each,
	}
	r, err := p.Play(ctx)
	return r, rec, err
}
