package distill

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/network"
)

// teacher is a network of random weights.
func teacher(t *testing.T, g *games.Game, hidden int) *mlp.Net {
	t.Helper()
	tr, err := network.New(network.Config{Sizes: []int{len(g.Features), hidden, 1}, Batch: 1, Seed: 5})
	require.NoError(t, err)
	n, err := tr.Net()
	require.NoError(t, err)
	require.NoError(t, tr.Close())
	return n
}

func small() Config {
	c := Default()
	c.Hidden, c.Games, c.Steps, c.Iterations, c.Batch = []int{8}, 6, 6, 40, 32
	return c
}

// The loss falls to a small part of what it is at first, in games of all kinds.
func TestRunLearns(t *testing.T) {
	for _, g := range []*games.Game{games.BlockBattle, games.TetrisDuel, games.WinTetris} {
		c := small()
		c.Iterations, c.Rate = 60, 3e-3
		var losses []float64
		c.Progress = func(n int, loss float64) {
			losses = append(losses, loss)
			require.Len(t, losses, n)
			require.False(t, math.IsNaN(loss))
		}
		net, err := Run(t.Context(), g, teacher(t, g, 4), c)
		require.NoError(t, err)
		require.Equal(t, []int{len(g.Features), 8, 1}, network.Sizes(net))
		require.Len(t, losses, c.Iterations)
		require.Less(t, losses[len(losses)-1], losses[0]/3, g.Rules.Name)
	}
}

// A network that begins as the teacher has nothing to learn.
func TestRunFrom(t *testing.T) {
	without, c := *games.BlockBattle, small()
	without.Mirror = nil // random weights have other values for the mirror image
	g := &without
	master := teacher(t, g, 8)
	c.From = master
	c.Progress = func(_ int, loss float64) { require.Less(t, loss, 1e-4) }
	_, err := Run(t.Context(), g, master, c)
	require.NoError(t, err)
}

// The number of workers makes no difference, the seed does.
func TestRunRepeats(t *testing.T) {
	g := games.BlockBattle
	master := teacher(t, g, 4)
	var nets [][]mlp.Tensor
	for _, x := range []struct {
		seed    uint64
		workers int
	}{{1, 1}, {1, 3}, {2, 1}} {
		c := small()
		c.Seed, c.Workers, c.Iterations = x.seed, x.workers, 12
		net, err := Run(t.Context(), g, master, c)
		require.NoError(t, err)
		nets = append(nets, net.Tensors())
	}
	require.Equal(t, nets[0], nets[1])
	require.NotEqual(t, nets[0], nets[2])
}

// A run that is stopped returns the network so far.
func TestRunStops(t *testing.T) {
	c := small()
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	c.Progress = func(int, float64) {
		if n++; n == 3 {
			stop()
		}
	}
	net, err := Run(ctx, games.BlockBattle, teacher(t, games.BlockBattle, 4), c)
	require.NoError(t, err)
	require.NotNil(t, net)
	require.Equal(t, 3, n)
}

func TestRunRefuses(t *testing.T) {
	for says, change := range map[string]func(*Config){
		"batch is 0": func(c *Config) { c.Batch = 0 },
		"games is 0": func(c *Config) { c.Games = 0 },
		"steps is 0": func(c *Config) { c.Steps = 0 },
		"samples is": func(c *Config) { c.Samples = 0 },
		"iterations": func(c *Config) { c.Iterations = 0 },
		"rate is 2":  func(c *Config) { c.Rate = 2 },
		"late is 2":  func(c *Config) { c.Late = 2 },
		"explore is": func(c *Config) { c.Explore = -1 },
		"hidden":     func(c *Config) { c.Hidden = []int{0} },
	} {
		c := small()
		change(&c)
		_, err := Run(t.Context(), games.BlockBattle, teacher(t, games.BlockBattle, 4), c)
		require.ErrorContains(t, err, says)
	}
}
