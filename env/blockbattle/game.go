package blockbattle

import "blockyard/env"

// Game is AI Block Battle with the published rules.
var Game = game("blockbattle", "BlockBattle-v0", Document)

// ClassicGame has the rules of the contest's engine of 2015.
var ClassicGame = game("blockbattle:classic", "BlockBattleClassic-v0", Classic)

// PortGame has the rules of the successor site's engine.
var PortGame = game("blockbattle:port", "BlockBattlePort-v0", Port)

func game(name, id string, rules Rules) *env.Game {
	return &env.Game{
		Name:         name,
		ID:           id,
		Title:        "Block Battle",
		Rules:        1,
		MinSeats:     2,
		MaxSeats:     2,
		Rows:         2,
		Actions:      actions,
		MaxLegal:     512,
		Planes:       env.Shape{C: 2, H: Height, W: Width},
		PlaneMax:     CellSolid,
		PlaneNames:   []string{"own", "opponent"},
		GlobalNames:  allGlobals.Names,
		GlobalRanges: allGlobals.Ranges,
		New:          func(seats int) env.State { return env.Start(&State{Rules: rules}, seats, 2, 2) },
		Text:         Text,
		Parse:        Parse,
	}
}
