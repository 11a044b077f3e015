package phases

import (
	"testing"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/network"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// The nets of an ensemble follow one another. Gates see the mean of those so far, and the backup begins with the mean
// of all.
func TestEnsemble(t *testing.T) {
	c := FromZero(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Batch, c.Hidden = 4, 24, 8, 32, []int{6}
	c.Results, c.Backup, c.Ensemble, c.Gates, c.GatePairs, c.GatePly = 0.75, 0.25, 3, 4, 1, 1
	r := open(t, c, 1)
	var names []string
	var units []int
	var gated *mlp.Net
	require.NoError(t, r.Go(t.Context(), func(atGate bool) error {
		if atGate {
			gated = r.Net()
			units = append(units, network.Sizes(gated)[1])
			return nil
		}
		names = append(names, r.Stage())
		if b, ok := r.Learner.(*backupLearner); ok {
			require.Same(t, gated, b.base)
		}
		return nil
	}))
	require.Equal(t, []int{6, 12, 18, 18}, units)
	require.Equal(t, []string{
		"results of games, network 1 of 3", "results of games, network 1 of 3",
		"results of games, network 2 of 3", "results of games, network 2 of 3",
		"results of games, network 3 of 3", "results of games, network 3 of 3",
		"search backup 1 of 1", "search backup 1 of 1",
	}, names)
}

// Each net of an ensemble begins with random weights of its own; the rate and the games two plies deep begin anew.
func TestEnsembleBeginsAnew(t *testing.T) {
	c := FromZero(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Hidden = 1, 1, 100, []int{4}
	c.Results, c.Backup, c.Deep, c.Ensemble = 0.8, 0.2, 0.4, 2
	r := open(t, c, 1)
	first := r.Learner.(*lambdaLearner)
	begun := first.Mean.Tensors()
	r.Counts.Iterations = 39
	same, err := c.Next(r, first)
	require.NoError(t, err)
	require.Same(t, first, same)
	require.True(t, first.twoPly())
	require.InDelta(t, c.RateTo, first.rate(), 2e-6)
	r.Counts.Iterations = 40
	r.Learner, err = c.Next(r, first)
	require.NoError(t, err)
	second := r.Learner.(*lambdaLearner)
	require.NotEqual(t, begun, second.Mean.Tensors())
	require.False(t, second.twoPly())
	require.InDelta(t, c.RateFrom, second.rate(), 1e-9)
	require.Equal(t, []*mlp.Net{first.Mean}, second.before)
	require.Equal(t, 40, second.since)
}

func TestEnsembleRefuses(t *testing.T) {
	for says, change := range map[string]func(*Config){
		"an ensemble of -1":   func(c *Config) { c.Ensemble = -1 },
		"an ensemble of 17":   func(c *Config) { c.Ensemble = 17 },
		"layers [4 4]":        func(c *Config) { c.Ensemble, c.Hidden = 2, []int{4, 4} },
		"results 0 and hidde": func(c *Config) { c.Ensemble, c.Results, c.Backup = 2, 0, 1 },
	} {
		c := FromZero(games.BlockBattle)
		change(&c)
		require.ErrorContains(t, c.Check(games.BlockBattle), says)
	}
	m := member{}
	r := open(t, ensemble(1), 1)
	for _, s := range []selfplay.MemberState{{Before: 17}, {Before: -1}, {Since: -1}, {Since: 1}} {
		require.ErrorContains(t, m.restore(r, &selfplay.State{Member: &s}), "nets of an ensemble")
	}
	require.ErrorContains(t, m.restore(r, &selfplay.State{Member: &selfplay.MemberState{Before: 1}}), `no net "member0."`)
}
