package afterstate_test

import (
	"context"
	"slices"
	"testing"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay/afterstate"

	"github.com/stretchr/testify/require"
)

// Best is what the search for play finds.
func TestAgreesWithSearch(t *testing.T) {
	g := games.BlockBattle
	net := envtest.Must(g.Load(""))
	c := afterstate.New(g, net, 1000)
	agent := envtest.Must(search.New(g.Rules, envtest.Must(g.Evaluator(net)), search.Options{Ply: 1}))
	var rand env.Rand
	rand.Seed(8)
	s := g.Rules.New(2)
	for range 50 {
		s.Reset(rand.Next())
		g.Damage(s, &rand)
		got, same := c.Best(s, 0), slices.Index(c.Root.Legal, envtest.Must(agent.Act(context.Background(), s, 0)))
		require.InDelta(t, c.Root.Worth[same], c.Root.Worth[got], 1e-3) // two ways to the same board, or fixed point
	}
	require.NotZero(t, c.TakeVisited())
	require.Zero(t, c.TakeVisited())
}
