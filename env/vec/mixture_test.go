package vec_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// only is the mixtures of two seats, the second of which has one agent.
func only(agent vec.AgentFactory, id uint16) []vec.Mixture {
	return []vec.Mixture{nil, {{agent, 1, id}}}
}

// Games in progress keep their agents; those that start later play as if they never had others.
func TestSetMixtures(t *testing.T) {
	var n counts
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Mixtures: only(n.agent, 0)})
	f, _, _ := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Mixtures: only(newDie, 5)})
	require.NoError(t, e.SetMixtures(only(newDie, 5), nil))
	play(t, 1, e, actions, out)
	require.Equal(t, 3, n.acts)
	require.Equal(t, []uint16{vec.NoOpponent, 0, vec.NoOpponent, 0, vec.NoOpponent, 0}, out.Opponent)
	require.NoError(t, e.Reseed(1, 3))
	require.NoError(t, e.CloneAll([]int{0}, []int{2}))
	require.Zero(t, e.Opponent(0, 1), "the same opponent in the same episode")
	require.Zero(t, n.closes)
	require.NoError(t, e.Reset(vec.From(5), nil, out))
	require.NoError(t, f.Reset(vec.From(5), nil, out))
	require.Equal(t, 3, n.closes)
	require.Equal(t, future(t, f, 50), future(t, e, 50))
	require.Equal(t, 3, n.acts)
}

// Tallies are the sums of those of environments, which can be replaced.
func TestTallies(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 50, Mixtures: []vec.Mixture{{{newDie, 1, 4}, {newLow, 1, 2}}, nil}})
	future(t, e, 60)
	sums := func() []vec.Tally {
		all := make([]vec.Tally, 5)
		for i := range 50 {
			for _, one := range e.TalliesOf(i) {
				all[one.ID].Wins += one.Wins
				all[one.ID].Draws += one.Draws
				all[one.ID].Losses += one.Losses
			}
		}
		return all
	}
	want := sums()
	require.Positive(t, want[2].Wins)
	require.Positive(t, want[4].Losses)
	require.Equal(t, want, e.Tallies())
	e.SetTalliesOf(7, nil)
	require.NotEqual(t, want, sums())
	require.Equal(t, sums(), e.Tallies())
}

func TestMixturesRefused(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 1, Mixtures: only(newDie, 0)})
	for says, m := range map[string]vec.Mixture{
		"seat 1: entry 2 has weight 0, want a finite number above 0": {{newDie, 1, 0}, {newDie, 0, 1}},
		"seat 1: entry 1 has weight -1":                              {{newDie, -1, 0}},
		"seat 1: entry 1 has weight NaN":                             {{newDie, math.NaN(), 0}},
		"seat 1: entry 1 has weight +Inf":                            {{newDie, math.Inf(1), 0}},
		"seat 1: the weights up to entry 2 have no finite sum":       {{newDie, 1e308, 0}, {newDie, 1e308, 0}},
		"seat 1: entry 1 has ID 65535, want less":                    {{newDie, 1, vec.NoOpponent}},
	} {
		_, err := vec.New(toy.Pick, vec.Config{Envs: 1, Mixtures: []vec.Mixture{nil, m}})
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, e.SetMixtures([]vec.Mixture{nil, m}, nil), says)
	}
	for _, m := range [][]vec.Mixture{{nil, nil}, {{{newDie, 1, 0}}, {{newDie, 1, 0}}}} {
		require.ErrorContains(t, e.SetMixtures(m, nil), "want agents exactly for the seats that have them already")
	}
}
