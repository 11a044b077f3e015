package registry

import (
	"strings"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// offers has a line for every game.
var offers = []offer{
	{game: "blockbattle", hand: &blockbattleWeights, outcomes: blockbattle.Pieces, evaluators: blockbattleEvaluators, outside: blockbattleOutside},
	{game: "tetrisduel", hand: &tetrisduelWeights, evaluators: tetrisduelEvaluators, outside: tetrisduelOutside},
	{game: "blocking", hand: &blockingWeights, evaluators: blockingEvaluators, outside: blockingOutside},
	{game: "wintetris", hand: &wintetrisWeights, players: wintetrisPlayers},
	{game: "dropblox", hand: &dropbloxWeights, players: dropbloxPlayers},
}

// An offer is what one game, with all its variants, offers beyond the players that every
// game has.
type offer struct {
	game       string // without the variant
	hand       *Hand  // what its hand's weights are
	outcomes   int    // draws that search.Expectimax averages over; 0 for none
	evaluators []evaluator
	outside    func(g *env.Game, argv []string) env.Agent // somebody else's program; nil if they cannot play
	players    []player                                   // that search in a way of the game's own
}

// A player plays by a search of its own, under a name. open reads its options, the text
// after the colon.
type player struct {
	name string
	open func(g *env.Game, options string) (Factory, error)
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
func find(g *env.Game) *offer {
	name, _, _ := strings.Cut(g.Name, ":")
	for i := range offers {
		if offers[i].game == name {
			return &offers[i]
		}
	}
	return nil
}
