// Tetrisduel is the bot for the Tetris duel: the contest's lines on standard input and
// output, a search over this block and the reply to it (or a few choices more), and an evaluator.
// Bundled into one file it is what gets handed in.
package main

import (
	"context"
	"fmt"
	"os"

	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/submissions/netpack"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// width is how many choices of each position the search goes into: the default of the same search
// elsewhere.
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
		fmt.Fprintln(os.Stderr, "tetrisduel:", err)
		os.Exit(1) // the text of the net is part of the program: bundling has checked it
	}
	// What the search needs of a game's facts; the rest would only make the bundle longer.
	g := &env.Game{Name: "tetrisduel", MinSeats: 2, MaxSeats: 2, Rows: 1, New: position}
	bot := contest.Bot{
		Codec: tetrisduelbot.NewCodec(os.Stdout),
		Agent: player(g, e),
		State: g.New(2),
		View:  g.New(2),
		Notes: os.Stderr,
	}
	if err := bot.Play(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tetrisduel:", err)
		os.Exit(1)
	}
}

func position(int) env.State {
	s := &tetrisduel.State{}
	s.Reset(0)
	return s
}

// evaluator is the net that is built in, or the hand-tuned weights.
func evaluator() (search.Evaluator, error) {
	if netText == "" {
		return tetrisduelbot.NewHand(), nil
	}
	layers, err := netpack.Parse(netText)
	if err != nil {
		return nil, err
	}
	net, err := mlp.New(layers)
	if err != nil {
		return nil, err
	}
	return tetrisduelbot.NewLearned(net)
}
