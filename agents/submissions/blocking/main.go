// Blocking is the bot for the Blocking contest: the contest's lines on standard input and
// output, a search over its placements and the replies to them (with two players a few more, if
// wanted), and an evaluator. Bundled into one file it is what gets handed in.
package main

import (
	"context"
	"fmt"
	"os"

	"blockyard/agents/blockingbot"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/submissions/netpack"
	"blockyard/env"
	"blockyard/env/blocking"
)

// width is how many placements of each position the search goes into: the default of the same
// search elsewhere.
const width = 12

// player is the search. Short of time it plays the best it has found until then.
func player(g *env.Game, e search.Evaluator) env.Agent {
	if ply > 2 {
		return search.NewMinimax(g, e, ply, width)
	}
	return search.NewReply(g, e, width)
}

func main() {
	e, err := evaluator()
	if err != nil {
		fmt.Fprintln(os.Stderr, "blocking:", err)
		os.Exit(1) // the text of the net is part of the program: bundling has checked it
	}
	// What the search needs of a game's facts; the rest would only make the bundle longer.
	g := &env.Game{Name: "blocking", MinSeats: 2, MaxSeats: 4, New: position}
	bot := contest.Bot{
		Codec: blockingbot.NewCodec(),
		Agent: player(g, e),
		State: g.New(2),
		View:  g.New(2),
		Notes: os.Stderr,
	}
	if err := bot.Play(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "blocking:", err)
		os.Exit(1)
	}
}

func position(seats int) env.State { return blocking.New(seats, 0) }

// evaluator is the net that is built in, or the hand-tuned weights.
func evaluator() (search.Evaluator, error) {
	if netText == "" {
		return blockingbot.NewHand(), nil
	}
	layers, err := netpack.Parse(netText)
	if err != nil {
		return nil, err
	}
	net, err := mlp.New(layers)
	if err != nil {
		return nil, err
	}
	return blockingbot.NewLearned(net)
}
