package registry

import (
	"io"

	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
)

var tetrisduelEvaluators = []evaluator{
	{"hand", tetrisduelHand},
	{"learned", tetrisduelLearned},
}

func tetrisduelHand(_ *env.Game, weights string) (maker, error) {
	w, err := tetrisduelbot.LoadWeights(weights)
	return func() (search.Evaluator, error) { return &tetrisduelbot.Hand{Weights: w}, nil }, err
}

func tetrisduelLearned(g *env.Game, weights string) (maker, error) {
	net, err := tetrisduelbot.LoadNet(g, weights)
	return func() (search.Evaluator, error) { return tetrisduelbot.NewLearned(net.Clone()) }, err
}

// tetrisduelOutside is somebody else's program.
func tetrisduelOutside(_ *env.Game, argv []string) env.Agent {
	return contest.External(tetrisduelbot.NewCodec(io.Discard), argv...)
}
