package main

import (
	"strings"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockingbot"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/tetrisduel"
	"blockyard/rpc/server"
)

// told has a line for every game whose trained players are told features.
var told = []server.Features{
	{Game: "blockbattle", Names: blockbattlebot.FeatureNames, Own: blockbattlebot.OwnLen,
		Reader: func() server.FeatureReader { return new(blockBattleFeatures) }},
	{Game: "tetrisduel", Names: tetrisduelbot.FeatureNames, Own: tetrisduelbot.OwnLen,
		Reader: func() server.FeatureReader { return new(tetrisDuelFeatures) }},
	{Game: "blocking", Names: blockingbot.FeatureNames, Own: blockingbot.OwnLen,
		Reader: func() server.FeatureReader { return new(blockingFeatures) }},
}

// features finds what players of g, or of the game it is a variant of, are told; nil if
// there is nothing.
func features(g *env.Game) *server.Features {
	game, _, _ := strings.Cut(g.Name, ":") // one net for all variants
	for _, f := range told {
		if f.Game == game {
			f.Rules = g.Rules
			return &f
		}
	}
	return nil
}

type blockBattleFeatures struct{ rival blockbattlebot.Rival }

func (r *blockBattleFeatures) Shared(s env.State, seat int, out []float32) {
	b := s.(*blockbattle.State)
	r.rival.Look(b, seat)
	r.rival.Const(b, seat, out)
}

func (r *blockBattleFeatures) Own(s env.State, seat int, out []float32) {
	r.rival.Own(s.(*blockbattle.State), seat, out)
}

type tetrisDuelFeatures struct{ eye tetrisduelbot.Eye }

func (r *tetrisDuelFeatures) Shared(s env.State, _ int, out []float32) {
	d := s.(*tetrisduel.State)
	r.eye.Look(d)
	r.eye.Const(d, out)
}

func (r *tetrisDuelFeatures) Own(s env.State, _ int, out []float32) {
	r.eye.Own(s.(*tetrisduel.State), out)
}

type blockingFeatures struct{ reader blockingbot.Reader }

func (r *blockingFeatures) Shared(s env.State, _ int, out []float32) {
	r.reader.Const(s.(*blocking.State), out)
}

func (r *blockingFeatures) Own(s env.State, seat int, out []float32) {
	r.reader.Own(s.(*blocking.State), seat, out)
}
