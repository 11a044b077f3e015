package search_test

import (
	"context"
	"fmt"
	"time"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/wintetris"
)

// An agent that looks two plies ahead with the baseline evaluator of Block Battle chooses an
// action. A context with a deadline limits its time.
func ExampleNew() {
	g := blockbattle.Game
	agent, err := search.New(g, blockbattlebot.NewHand(), search.Options{Ply: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := g.New(2)
	s.Reset(1)

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	action, err := agent.Act(ctx, s, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Text(action))
	// Output: r0 x0 y19
}

// flat is an evaluator that prefers a low stack: every cell costs its height.
type flat struct{}

func (flat) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		field := &s.(*wintetris.State).Field
		out[i] = 0
		for y := range wintetris.Height {
			for x := range wintetris.Width {
				if field.At(x, y) {
					out[i] -= float32(y)
				}
			}
		}
	}
}

// A search accepts any evaluator.
func ExampleEvaluator() {
	agent := search.NewGreedy(wintetris.Game, flat{})
	s := wintetris.Game.New(1)
	s.Reset(7)
	for range 200 {
		action, err := agent.Act(context.Background(), s, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		s.Step(env.Alone(0, action))
	}
	fmt.Println("lines after 200 pieces:", s.Score(0))
	// Output: lines after 200 pieces: 78
}
