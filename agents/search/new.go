package search

import (
	"fmt"

	"blockyard/env"
)

// MaxPly is the greatest number of plies that a search looks ahead.
const MaxPly = 6

// Options select a search. The zero value is the default one.
type Options struct {
	Ply      int // plies to look ahead: 1 to 4, with turns up to MaxPly; 0 means 2
	Width    int // how many actions or pairs a selective ply goes on with; 0 means 12
	Outcomes int // draws, equally likely, that Expectimax averages over; 0 if g has no such draw
}

// New returns the search of g that o selects, with the evaluator e:
//
//	Ply        seats take turns    seats act at once, or alone
//	1          Greedy              Greedy
//	2          Reply               TwoPly
//	3, 4       Minimax             Expectimax
//	5, 6       Minimax             none
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
	switch {
	case o.Ply == 1:
		return NewGreedy(g, e), nil
	case o.Ply == 2 && turns(g):
		return NewReply(g, e, o.Width), nil
	case o.Ply == 2:
		return NewTwoPly(g, e), nil
	case o.Ply >= 3 && o.Ply <= MaxPly && turns(g):
		return NewMinimax(g, e, o.Ply, o.Width), nil
	case o.Ply != 3 && o.Ply != 4:
		return nil, fmt.Errorf("search: ply %d, want 1 to 4, or up to %d in a game of turns", o.Ply, MaxPly)
	case o.Outcomes < 1:
		return nil, fmt.Errorf("search: %s has no third ply, want ply 1 or 2", g.Name)
	case o.Ply == 4:
		return NewExpectimax4(g, e, o.Width, o.Outcomes), nil
	}
	return NewExpectimax(g, e, o.Width, o.Outcomes), nil
}

// turns reports whether the seats of g take turns: there are several, and one at a time acts.
func turns(g *env.Game) bool { return g.MaxSeats > 1 && g.Rows == 1 }
