package registry

import (
	"errors"

	"blockyard/agents/blockingbot"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
)

var blockingEvaluators = []evaluator{
	{"hand", blockingHand},
	{"learned", blockingLearned},
	{"greedy", blockingGreedy},
}

func blockingHand(_ *env.Game, weights string) (maker, error) {
	w, err := blockingbot.LoadWeights(weights)
	return func() (search.Evaluator, error) { return &blockingbot.Hand{Weights: w}, nil }, err
}

func blockingLearned(g *env.Game, weights string) (maker, error) {
	net, err := blockingbot.LoadNet(g, weights)
	return func() (search.Evaluator, error) { return blockingbot.NewLearned(net.Clone()) }, err
}

func blockingGreedy(_ *env.Game, weights string) (maker, error) {
	if weights != "" {
		return nil, errors.New("greedy has no weights to read")
	}
	return func() (search.Evaluator, error) { return &blockingbot.Greedy{}, nil }, nil
}

// blockingOutside is somebody else's program.
func blockingOutside(_ *env.Game, argv []string) env.Agent {
	return contest.External(blockingbot.NewCodec(), argv...)
}
