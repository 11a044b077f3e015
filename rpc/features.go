package main

import (
	"strings"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockingbot"
	"blockyard/agents/dropbloxbot"
	"blockyard/agents/tetrisduelbot"
	"blockyard/agents/wintetrisbot"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/tetrisduel"
	"blockyard/env/wintetris"
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
	{Game: "wintetris", Names: wintetrisbot.FeatureNames, Own: wintetrisbot.Len,
		Reader: func() server.FeatureReader { return wintetrisFeatures{} }},
	{Game: "dropblox", Names: dropbloxbot.FeatureNames, Own: dropbloxbot.Len,
		Reader: func() server.FeatureReader { return dropbloxFeatures{} }},
}

// features finds what players of g, or of the game it is a variant of, are told; nil if
// there is nothing.
func features(g *env.Game) *server.Features {
	if g == wintetris.TickGame {
		return nil // its choices are keys, and a net is told what a placement leaves
	}
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

type wintetrisFeatures struct{}

func (wintetrisFeatures) Shared(env.State, int, []float32) {}

func (wintetrisFeatures) Own(s env.State, _ int, out []float32) {
	wintetrisbot.Look(&s.(*wintetris.State).Field, out)
}

type dropbloxFeatures struct{}

func (dropbloxFeatures) Shared(env.State, int, []float32) {}

func (dropbloxFeatures) Own(state env.State, _ int, out []float32) {
	s := state.(*dropblox.State)
	dropbloxbot.Look(&s.Taken, int(s.Points), out)
}
