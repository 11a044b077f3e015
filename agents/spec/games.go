package spec

import (
	"strings"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A contest is what one game, with all its variants, offers beyond the players that every
// game has.
type contest struct {
	game       string // without the variant
	outcomes   int    // what a third ply tells apart; see search.Narrow
	evaluators []evaluator
}

// An evaluator says what positions are worth, under a name.
type evaluator struct {
	name string
	// open returns a maker of evaluators with the weights of a file, or the shipped ones
	// if the name is empty. The maker is safe for concurrent use.
	open func(g *env.Game, weights string) (func() search.Evaluator, error)
}

// contests has a line for every game.
var contests = []contest{
	{"blockbattle", blockbattle.Pieces, nil},
}

// find returns what there is for g, or nil.
func find(g *env.Game) *contest {
	name, _, _ := strings.Cut(g.Name, ":")
	for i := range contests {
		if contests[i].game == name {
			return &contests[i]
		}
	}
	return nil
}
