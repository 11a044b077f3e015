// Tetrisduel is the program for the Tetris duel. It reads the contest's requests from standard input and answers each
// with the best placement that its search finds. Package agents/submit turns it into the single file that the contest
// takes.
package main

import (
	"os"

	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/search"
	"blockyard/agents/submit/programs/program"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

func main() {
	// The search needs only these facts about the game; all of them would make the file longer.
	g := &env.Game{Name: "tetrisduel", MinSeats: 2, MaxSeats: 2, Rows: 1, New: position}
	program.Play(g, tetrisduelbot.NewCodec(os.Stdout), program.DuelSearch(g, evaluator()))
}

func position(int) env.State {
	s := &tetrisduel.State{}
	s.Reset(0)
	return s
}

// evaluator is the network that is built in, or the baseline.
func evaluator() search.Evaluator {
	if program.NetText == "" {
		return tetrisduelbot.NewHand()
	}
	return tetrisduelbot.NewLearned(program.Network())
}
