package main

import (
	"strings"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockingbot"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
)

// A dialogue is what the commands need of a game with a contest of lines.
type dialogue struct {
	codec   func(con *console) contest.Codec // of the bot's end, on standard input and output
	loadNet func(g *env.Game, path string) (*mlp.Net, error)
}

// dialogues has a line for every such game, variants left out.
var dialogues = map[string]dialogue{
	"blockbattle": {
		func(con *console) contest.Codec {
			return blockbattlebot.NewCodec(blockbattlebot.ClassicDialect, con.err)
		}, blockbattlebot.LoadNet,
	},
	"blocking": {
		func(*console) contest.Codec { return blockingbot.NewCodec() }, blockingbot.LoadNet,
	},
	"tetrisduel": {
		func(con *console) contest.Codec { return tetrisduelbot.NewCodec(con.out) }, tetrisduelbot.LoadNet,
	},
}

// dialogueOf finds a game's dialogue; ok is false where there is none.
func dialogueOf(g *env.Game) (d dialogue, ok bool) {
	base, _, _ := strings.Cut(g.Name, ":")
	d, ok = dialogues[base]
	return d, ok
}
