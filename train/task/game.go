// Package task says what training a value network needs of a game. Every game whose entry in
// agents/registry has features can be trained: New takes all that is needed from there. The
// games listed in this package add what makes training faster or stronger: harder starting
// positions, mirror images, a first network, rewards, a planner.
//
// The value that is trained is that of an afterstate: the position right after a seat's own
// choice. Its features come in two runs, first those that the choice can change, then those
// that all choices of one decision share, so that play computes the second run once.
package task

import (
	"blockyard/agents/entry"
	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// A Game is one game as its trainer sees it.
type Game struct {
	Rules    *env.Game
	Features []string // in order; about -2 to 2 each
	Own      int      // the first Own of them can change with the seat's own choice
	entry    *entry.Entry

	// Reader creates a feature reader for one goroutine.
	Reader func() features.Reader
	// Hand creates the baseline evaluator, which plays the warm start and is the yardstick.
	Hand func() search.Evaluator
	// Learned creates the evaluator that plays by a network.
	Learned func(*mlp.Net) (search.Evaluator, error)
	// Worth, if set, makes a function that says what the hand-tuned evaluator makes of
	// after, reached from before by a choice of seat: seat's worth less the opponent's,
	// as a number that depends on nothing the features cannot show. Nets imitate it
	// before they learn from results.
	Worth func() func(before, after env.State, seat int) float32
	// Chance, if set, is what a seat learns from a finished game, 0 to 1; else it is its
	// Result on that scale.
	Chance func(s env.State, seat int) float32
	// Damage turns a fresh position into a late or a hard one; r is its only source of
	// chance. The position stays one that Check accepts and that is not over.
	Damage func(s env.State, r *env.Rand)
	// Mirror, if set, turns a row of features into that of the position's mirror image,
	// which is worth the same.
	Mirror func(row []float32)
	// Outcomes is how many draws, equally likely, a third ply tells apart.
	Outcomes int
	// Start, if set, makes a net of one hidden layer that prefers as Hand does, its other
	// units random by seed.
	Start func(hidden int, seed uint64) (*mlp.Net, error)
	// Solo, if set, is what a game of one seat is learnt by instead of results. Then Hand,
	// Learned, Worth, Chance and Start may be missing.
	Solo *Solo
}

// A Solo says what the choices of a game of one seat earn.
type Solo struct {
	Rules    *env.Game // what is played to learn, the game or a variant of it
	Discount float64   // of what a choice later brings
	Unit     float64   // worth of a point of Score
	// Planner, if set, makes the player that is learnt from, instead of the greedy choice;
	// of no net the hand-tuned one. The wider, the more plans it compares.
	Planner func(net *mlp.Net, width int) Planner
}

// A Planner is a player that looks ahead by a net. Values are then learnt of the positions
// that its plans lead to, which are those that it judges.
type Planner interface {
	// Plan returns what to choose in s. It writes the features of the position where the
	// plan ends to x and returns the points there; ok is false, and x untouched, if every
	// plan ends the game.
	Plan(s env.State, x []float32) (a env.Action, points int, ok bool)
}

// Facts are what a file of weights for the game says about itself.
func (g *Game) Facts(notes map[string]string) mlp.Facts {
	return mlp.Facts{Game: entry.Base(g.Rules), Rules: g.Rules.Rules, Features: g.Features, Notes: notes}
}

// Load reads a network for the game from a file, or the shipped one if path is empty.
func (g *Game) Load(path string) (*mlp.Net, error) { return g.entry.LoadNet(g.Rules, path) }
