package afterstate_test

import (
	"context"
	"slices"
	"testing"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay/afterstate"

	"github.com/stretchr/testify/require"
)

// Two plies deep, with no first choice left out, Best is what the search for play finds.
func TestTwoPlyAgreesWithSearch(t *testing.T) {
	g := games.BlockBattle
	net, err := g.Start(8, 3)
	require.NoError(t, err)
	c := afterstate.New(g, net, 1000)
	c.TwoPly = true
	e, err := g.Learned(net.Clone())
	require.NoError(t, err)
	agent, err := search.New(g.Rules, e, search.Options{Ply: 2, Outcomes: g.Outcomes})
	require.NoError(t, err)
	var rand env.Rand
	rand.Seed(8)
	s := g.Rules.New(2)
	worth := func(i int) float32 { return c.BestWorth(&c.Leaf, c.Root.States[c.Root.Find(i)], 0) }
	for range 50 {
		s.Reset(rand.Next())
		g.Damage(s, &rand)
		want, err := agent.Act(context.Background(), s, 0)
		require.NoError(t, err)
		got, same := c.Best(s, 0), slices.Index(c.Root.Legal, want)
		if got != same { // two ways to the same board
			require.InDelta(t, worth(same), worth(got), 1e-5)
		}
	}
	require.NotZero(t, c.TakeVisited())
	require.Zero(t, c.TakeVisited())
}
