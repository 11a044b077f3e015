package search

import (
	"context"
	"testing"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
)

// The time of a decision, with evaluators that cost next to nothing.
func BenchmarkAct(b *testing.B) {
	battle := positions(b, 50)
	var turns []env.State
	for seed := range uint64(50) {
		s := toy.Turns.New(3)
		s.Reset(seed)
		turns = append(turns, s)
	}
	g := blockbattle.Game
	for _, c := range []struct {
		name  string
		agent env.Agent
		game  *env.Game
		list  []env.State
	}{
		{"greedy", NewGreedy(g, tidy{}), g, battle},
		{"two-ply", NewTwoPly(g, tidy{}), g, battle},
		{"expectimax", NewExpectimax(g, tidy{}, 12, blockbattle.Pieces), g, battle},
		{"expectimax-4", NewExpectimax4(g, tidy{}, 1, 2), g, battle},
		{"reply", NewReply(toy.Turns, margin{}, 3), toy.Turns, turns},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := c.game.New(c.game.MinSeats)
			if c.game == toy.Turns {
				s = c.game.New(3)
			}
			for i := 0; b.Loop(); i++ {
				s.CopyFrom(c.list[i%len(c.list)])
				_, _ = c.agent.Act(context.Background(), s, s.Acting().First())
			}
		})
	}
}
