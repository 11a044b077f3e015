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
		s := begun(g, g.MinSeats, 1)
		choose := func(text string, seed uint64) env.Action { return act(t, agent(t, g, text, seed), s, 0) }
		always := choose(strings.TrimRight(spec, ":,"), 0)
		other := 0
		for seed := range uint64(1000) {
			if choose(spec+"eps=0.3", seed) != always {
				other++
			}
		}
		legal := float64(len(s.Legal(0, nil)))
		require.InDelta(t, 300*(legal-1)/legal, other, 75, "%s: five standard deviations", spec)
		f := factory(t, g, spec+"eps=0.5")
		require.Equal(t, play(t, g, f, 1), play(t, g, f, 1), "choices follow from the seed")
	}
}
