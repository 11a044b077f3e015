package registry

import (
	"errors"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// blockbattleEvaluators are those of all variants of blockbattle.
var blockbattleEvaluators = []evaluator{
	{"hand", blockbattleHand},
	{"learned", blockbattleLearned},
	{"terms6", blockbattleTerms6},
}

func blockbattleHand(_ *env.Game, weights string) (maker, error) {
	w, err := blockbattlebot.LoadWeights(weights)
	return func() (search.Evaluator, error) { return &blockbattlebot.Hand{Weights: w}, nil }, err
}

func blockbattleLearned(g *env.Game, weights string) (maker, error) {
	net, err := blockbattlebot.LoadNet(g, weights)
	return func() (search.Evaluator, error) { return blockbattlebot.NewLearned(net.Clone()) }, err
}

func blockbattleTerms6(_ *env.Game, weights string) (maker, error) {
	if weights != "" {
		return nil, errors.New("terms6 has no weights to read")
	}
	return func() (search.Evaluator, error) { return blockbattlebot.Terms6{}, nil }, nil
}

// blockbattleOutside is somebody else's program.
func blockbattleOutside(g *env.Game, argv []string) env.Agent {
	return contest.External(blockbattleCodec(g), argv...)
}

// blockbattleCodec is the dialogue of the contest whose rules g has.
func blockbattleCodec(g *env.Game) contest.Codec {
	if g == blockbattle.PortGame {
		return blockbattlebot.NewCodec(blockbattlebot.PortDialect, nil)
	}
	return blockbattlebot.NewCodec(blockbattlebot.ClassicDialect, nil)
}
