package dropbloxcontest

import (
	"context"
	"time"

	"blockyard/agents/dropbloxcontest/history"
)

// A LocalGame is a program's game of one seed on this machine.
type LocalGame struct {
	Player         // without Game, History and Margin
	ID      string // in the game's history
	Seed    string // any decimal integer
	Clock   time.Duration
	Folders string // folder for the game's history; "" keeps none
}

// Play plays the game. The record of a game that has begun is returned also with an error.
func (g LocalGame) Play(ctx context.Context) (Result, *Recorder, error) {
	failed := Result{Reason: Failed}
	game, err := NewLocal(g.Seed, g.Clock)
	if err != nil {
		return failed, nil, err
	}
	g.Game, g.Margin = game, Margin
	g.History, err = history.Create(g.Folders, history.Meta{
		ID: g.ID, Seed: g.Seed, Program: g.Program.Name, Mode: "local", Started: game.Began,
	})
	if err != nil {
		return failed, nil, err
	}
	rec, err := Record(game, g.Seed, "exec:"+g.Program.Name)
	if err != nil {
		return failed, nil, err
	}
	r, err := g.Player.Play(ctx)
	return r, rec, err
}
