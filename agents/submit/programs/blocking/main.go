// Blocking is the program for the Blocking contest. It reads the contest's requests from standard input and answers
// each with the best placement that its search finds. Package agents/submit turns it into the single file that the
// contest takes.
package main

import (
	"blockyard/agents/bots/blockingbot"
	"blockyard/agents/search"
	"blockyard/agents/submit/programs/program"
	"blockyard/env"
	"blockyard/env/blocking"
)

func main() {
	// The search needs only these facts about the game; all of them would make the file longer.
	g := &env.Game{Name: "blocking", MinSeats: 2, MaxSeats: 4, New: position}
	program.Play(g, blockingbot.NewCodec(), program.TurnSearch(g, evaluator()))
}

func position(seats int) env.State { return blocking.New(seats, 0) }

// evaluator is the network that is built in, or the baseline.
func evaluator() search.Evaluator {
	if program.NetText == "" {
		return blockingbot.NewHand()
	}
	return blockingbot.NewLearned(program.Network())
}
