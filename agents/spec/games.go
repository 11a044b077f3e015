package spec

import (
	"strings"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// contests has a line for every game.
var contests = []contest{
	{"blockbattle", blockbattle.Pieces, blockbattleEvaluators},
}

// A contest is what one game, with all its variants, offers beyond the players that every
// game has.
type contest struct {
	game       string // without the variant
	outcomes   int    // what a third ply tells apart (see search.Narrow); 0 for no third ply
	evaluators []evaluator
}

// An evaluator says what positions are worth, under a name. open reads the weights of a
// file, or takes the shipped ones if the name is empty.
type evaluator struct {
	name string
	open func(g *env.Game, weights string) (maker, error)
}

// A maker makes an evaluator for one agent. It is safe for concurrent use.
type maker func() (search.Evaluator, error)

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
