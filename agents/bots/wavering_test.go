package bots

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/tetrisduel"
)

// Of a thousand first choices with eps=0.3, about 300 are random, of which a few are what the agent would play anyway.
func TestEpsIsTheShareOfRandomChoices(t *testing.T) {
	for spec, g := range map[string]*env.Game{
		"hand:ply=1,": blockbattle.Game, "digger:": blockbattle.Game,
		"greedy:ply=1,": blocking.Game, "hand:ply=1,width=3,": tetrisduel.Game,
	} {
		s := g.New(g.MinSeats)
		s.Reset(1)
		choose := func(text string, seed uint64) env.Action {
			a := agent(t, g, text, seed)
			action := act(t, a, s, 0)
			return action
		}
		always := choose(strings.TrimRight(spec, ":,"), 0)
		other := 0
		for seed := range uint64(1000) {
			if choose(spec+"eps=0.3", seed) != always {
				other++
			}
		}
		legal := float64(len(s.Legal(0, nil)))
		require.InDelta(t, 300*(legal-1)/legal, other, 75, "%s: five standard deviations", spec)
	}
}

// With eps=1 an agent plays as random does, and its random choices follow from the seed.
func TestEpsFollowsFromTheSeed(t *testing.T) {
	for _, spec := range []string{"hand:ply=1,eps=1", "hand:ply=1,eps=0.5"} {
		f := factory(t, blockbattle.Game, spec)
		require.Equal(t, play(t, blockbattle.Game, f, 1), play(t, blockbattle.Game, f, 1))
		require.NotEqual(t, play(t, blockbattle.Game, f, 1), play(t, blockbattle.Game, f, 2))
	}
}
