package spec

import (
	"errors"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/search"
	"blockyard/env"
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
