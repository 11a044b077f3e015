package search

import (
	"fmt"

	"blockyard/env"
)

// MaxPly is the most choices that a search looks ahead.
const MaxPly = 6

// Options say which search. The zero value is the default one.
type Options struct {
	Ply      int // how many choices ahead: 1 to 4, in a game of turns up to MaxPly; 0 means 2
	Width    int // how many lines a narrow ply goes on with; 0 means 12
	Outcomes int // how many draws, equally likely, a third and a fourth ply tell apart; 0 for none
}

// New returns the search of g that o asks for, judging with e: Greedy at one ply; at two,
// Reply where seats take turns and Two elsewhere; at three and more, Minimax where seats take
// turns, and Narrow at three and four elsewhere.
func New(g *env.Game, e Evaluator, o Options) (env.Agent, error) {
	if o.Ply == 0 {
		o.Ply = 2
	}
	if o.Width == 0 {
		o.Width = 12
	}
	if o.Width < 1 {
		return nil, fmt.Errorf("search: width %d, want at least 1", o.Width)
	}
	switch o.Ply {
	case 1:
		return NewGreedy(g, e), nil
	case 2:
		if turns(g) {
			return NewReply(g, e, o.Width), nil
		}
		return NewTwo(g, e), nil
	}
	switch {
	case o.Ply >= 3 && o.Ply <= MaxPly && turns(g):
		return NewMinimax(g, e, o.Ply, o.Width), nil
	case o.Ply == 3 || o.Ply == 4:
		if o.Outcomes < 1 || turns(g) {
			return nil, fmt.Errorf("search: %s has no third ply", g.Name)
		}
		if o.Ply == 4 {
			return NewFourth(g, e, o.Width, o.Outcomes), nil
		}
		return NewNarrow(g, e, o.Width, o.Outcomes), nil
	}
	return nil, fmt.Errorf("search: ply %d, want 1 to 4, and up to %d only where seats take turns", o.Ply, MaxPly)
}

// turns reports whether seats take turns in g: several play and one at a time acts.
func turns(g *env.Game) bool { return g.MaxSeats > 1 && g.Rows == 1 }
