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

// Best is what the search for play finds.
func TestAgreesWithSearch(t *testing.T) {
	g := games.BlockBattle
	net, err := g.Load("")
	require.NoError(t, err)
	c := afterstate.New(g, net, 1000)
	e, err := g.Evaluator(net)
	require.NoError(t, err)
	agent, err := search.New(g.Rules, e, search.Options{Ply: 1})
	require.NoError(t, err)
	var rand env.Rand
	rand.Seed(8)
	s := g.Rules.New(2)
	for range 50 {
		s.Reset(rand.Next())
		g.Damage(s, &rand)
		want, err := agent.Act(context.Background(), s, 0)
		require.NoError(t, err)
		got, same := c.Best(s, 0), slices.Index(c.Root.Legal, want)
		require.InDelta(t, c.Root.Worth[same], c.Root.Worth[got], 1e-3) // two ways to the same board, or fixed point
	}
	require.NotZero(t, c.TakeVisited())
	require.Zero(t, c.TakeVisited())
}
