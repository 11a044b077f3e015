// Blockbattle is the program for the AI Block Battle contest. It reads the contest's requests from standard input and
// answers each with the best placement that its search finds. Package agents/submit turns it into the single file
// that the contest takes.
package main

import (
	"os"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/search"
	"blockyard/agents/submit/programs/program"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

func main() {
	// The search needs only these facts about the game; all of them would make the file longer.
	g := &env.Game{Name: "blockbattle", MinSeats: 2, MaxSeats: 2, New: position}
	program.Play(g, blockbattlebot.NewCodec(blockbattle.ClassicDialect, os.Stderr), agent(g, evaluator()))
}

// agent is the search, with a guard against the opponent's strongest attack. If time runs out, it plays the best
// placement found so far.
func agent(g *env.Game, e search.Evaluator) env.Agent {
	a := unguarded(g, e)
	a.SetGuard(blockbattlebot.NewGuard())
	return a
}

// A searcher is a search that can have a guard.
type searcher interface {
	env.Agent
	SetGuard(g search.Guard)
}

func unguarded(g *env.Game, e search.Evaluator) searcher {
	if program.Ply == 4 {
		return search.NewExpectimax4(g, e, program.Breadth, blockbattle.Pieces)
	}
	if program.Ply == 3 {
		return search.NewExpectimax(g, e, program.Breadth, blockbattle.Pieces)
	}
	return search.NewTwoPly(g, e)
}

func position(int) env.State {
	s := &blockbattle.State{Rules: blockbattle.Document}
	s.Reset(0)
	return s
}

// evaluator is the network that is built in, or the baseline.
func evaluator() search.Evaluator {
	if program.NetText == "" {
		return blockbattlebot.NewHand()
	}
	return blockbattlebot.NewLearned(program.Network())
}
