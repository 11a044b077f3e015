// Package registry lists what every game offers beyond its rules (package entry), and turns
// a spec, an agent as text, into an agent.
//
//	random                      a legal action, all equally likely
//	first                       the legal action with the lowest id
//	hand                        a search with the game's hand-tuned baseline
//	learned                     a search with the game's value network
//	terms6, greedy, …           a search with another evaluator of the game
//	hand:ply=1                  options follow a colon, separated by commas
//	learned:ply=3,width=8,weights=FILE,time=50ms
//	exec:CMD                    a program that speaks the dialogue of the game's contest; CMD
//	                            is the rest of the text, split as a shell would
//
// Every search takes the option weights, a file instead of the shipped or tuned weights.
// The other options depend on the search:
//
//	                  option  meaning
//	package search    ply     choices to look ahead: 1, 2 (the default), 3 or 4; up to 6 in
//	                          turn-based games of two seats; 1 or 2 in those of more
//	                  width   positions that a selective ply expands, 12 by default
//	                  time    limit for one choice, such as 50ms; by default none
//	wintetris:tick    parts   ticks over which the search is split, 4 by default
//	dropblox          width   boards kept after every block, 50 by default
//	                  depth   how many of the six known blocks are searched, by default all
//	                  time    limit for one choice, instead of a width: as wide as fits
package registry

import (
	"slices"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockingbot"
	"blockyard/agents/dropbloxbot"
	"blockyard/agents/entry"
	"blockyard/agents/features"
	"blockyard/agents/tetrisduelbot"
	"blockyard/agents/wintetrisbot"
	"blockyard/env"
)

// All has the entry of every game.
var All = []*entry.Entry{
	blockbattlebot.Entry,
	tetrisduelbot.Entry,
	blockingbot.Entry,
	wintetrisbot.Entry,
	dropbloxbot.Entry,
}

// Of returns the entry of g. A game without one has an empty entry.
func Of(g *env.Game) *entry.Entry {
	name := entry.Base(g)
	if i := slices.IndexFunc(All, func(e *entry.Entry) bool { return e.Game == name }); i >= 0 {
		return All[i]
	}
	return &entry.Entry{Game: name}
}

// Features returns the features of g, or nil if it defines none.
func Features(g *env.Game) *features.Set { return Of(g).FeaturesOf(g) }

// Names lists the agents of g that Parse knows by name, those of every game first.
func Names(g *env.Game) []string { return append([]string{"random", "first"}, Of(g).Names()...) }
