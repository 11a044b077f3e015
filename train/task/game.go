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
	// Hand creates the baseline evaluator, which plays the warm start and is the opponent in gates.
	Hand func() search.Evaluator
	// Learned creates the evaluator that plays by a network.
	Learned func(*mlp.Net) (search.Evaluator, error)
	// Worth, if set, makes a function that returns the baseline evaluator's worth of after,
	// reached from before by a choice of seat: seat's worth less the opponent's, from nothing
	// that the features cannot show. The warm start imitates it.
	Worth func() func(before, after env.State, seat int) float32
	// Chance, if set, is the target that a finished game gives a seat, 0 to 1. By default it
	// is the seat's Result on that scale.
	Chance func(s env.State, seat int) float32
	// Damage turns a fresh position into a late or a hard one, at random by r alone. Check
	// accepts the position, and its game is not over.
	Damage func(s env.State, r *env.Rand)
	// Mirror, if set, turns a row of features into that of the mirror image of the position,
	// which has the same value.
	Mirror func(row []float32)
	// Outcomes is how many equally likely draws a search of three plies enumerates.
	Outcomes int
	// Start, if set, makes a net of one hidden layer with the preferences of Hand. Its other
	// units are random by seed.
	Start func(hidden int, seed uint64) (*mlp.Net, error)
	// Solo, if set, replaces results in a game of one seat. Then Hand, Learned, Worth, Chance
	// and Start may be missing.
	Solo *Solo
}

// A Solo says what rewards the choices of a game of one seat bring.
type Solo struct {
	Discount float64 // per choice
	Unit     float64 // reward of a point of Score
	// Planner, if set, makes the policy that replaces greedy choices in training; by the
	// baseline evaluator if net is nil. A wider planner compares more plans.
	Planner func(net *mlp.Net, width int) Planner
}

// A Planner is a policy that searches by a net. Training then learns the values of the
// positions in which its plans end, because these are what it evaluates.
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
