// Package program holds what the contest programs in the folders beside it share: the built-in network and
// search depth, and the loop that plays on standard input and output.
//
// It is written in Go 1.17 (flatten.Lang), because package flatten makes it part of every one-file bot.
package program

import (
	"context"
	"fmt"
	"os"

	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/submit/programs/netpack"
	"blockyard/env"
)

// Breadth is the number of moves per position that a deep search follows further: the default of package search.
const Breadth = 12

// Network decodes NetText, which package agents/submit wrote.
func Network() *mlp.Net { return netpack.Trusted(NetText) }

// TurnSearch returns the search for a turn-based game of any number of seats. If time runs out, it plays the best move
// found so far.
func TurnSearch(g *env.Game, e search.Evaluator) env.Agent {
	if Ply > 2 {
		return search.NewMinimax(g, e, Ply, Breadth)
	}
	return search.NewReply(g, e, Breadth)
}

// DuelSearch is TurnSearch for two seats. It is shorter, which leaves more of a one-file bot to its network.
func DuelSearch(g *env.Game, e search.Evaluator) env.Agent {
	if Ply > 2 {
		return search.NewTwoSeats(g, e, Ply, Breadth)
	}
	return search.NewReply(g, e, Breadth)
}

// Play answers the contest's requests on standard input until the input ends. An error ends the program.
func Play(g *env.Game, c contest.Codec, a env.Agent) {
	bot := contest.Bot{Codec: c, Agent: a, State: g.New(2), View: g.New(2), Notes: os.Stderr}
	if err := bot.Play(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
