// Blockbattle is the bot for the AI Block Battle contest: the contest's lines on standard
// input and output, a search over this piece and the next one (or one or two more), and an
// evaluator. Bundled into one file it is what gets handed in.
package main

import (
	"context"
	"fmt"
	"os"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/submissions/netpack"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

func main() {
	e, err := evaluator()
	if err != nil {
		fmt.Fprintln(os.Stderr, "blockbattle:", err)
		os.Exit(1) // the text of the net is part of the program: bundling has checked it
	}
	// What the search needs of a game's facts; the rest would only make the bundle longer.
	g := &env.Game{Name: "blockbattle", MinSeats: 2, MaxSeats: 2, New: position}
	bot := contest.Bot{
		Codec: blockbattlebot.NewCodec(blockbattlebot.ClassicDialect, os.Stderr),
		Agent: player(g, e),
		State: g.New(2),
		View:  g.New(2),
		Notes: os.Stderr,
	}
	if err := bot.Play(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "blockbattle:", err)
		os.Exit(1)
	}
}

// width is how many lines a third ply, and a fourth, goes on with: the default of the same search
// elsewhere.
const width = 12

// player is the search. Short of time it plays the best it has found until then.
func player(g *env.Game, e search.Evaluator) env.Agent {
	switch ply {
	case 4:
		return search.NewExpectimax4(g, e, width, blockbattle.Pieces)
	case 3:
		return search.NewExpectimax(g, e, width, blockbattle.Pieces)
	}
	return search.NewTwoPly(g, e)
}

func position(int) env.State {
	s := &blockbattle.State{Rules: blockbattle.Document}
	s.Reset(0)
	return s
}

// evaluator is the net that is built in, or the hand-tuned weights.
func evaluator() (search.Evaluator, error) {
	if netText == "" {
		return blockbattlebot.NewHand(), nil
	}
	layers, err := netpack.Parse(netText)
	if err != nil {
		return nil, err
	}
	net, err := mlp.New(layers)
	if err != nil {
		return nil, err
	}
	return blockbattlebot.NewLearned(net)
}
