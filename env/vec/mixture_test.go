package vec_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// counted is an agent that would be kept for good, and counts what happens to it.
type counted struct {
	die
	acts, closes *int
}

func (a *counted) NewGame(uint64) {}

func (a *counted) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	*a.acts++
	return a.die.Act(ctx, s, seat)
}

func (a *counted) Close() error {
	*a.closes++
	return nil
}

// only is the mixtures of two seats, the second of which has one agent.
func only(agent vec.AgentFactory, id uint16) []vec.Mixture {
	return []vec.Mixture{nil, {{agent, 1, id}}}
}

// Games in progress keep their agents; those that start later play as if they never had others.
func TestSetMixtures(t *testing.T) {
	acts, closes := 0, 0
	old := func(uint64) (env.Agent, error) { return &counted{acts: &acts, closes: &closes}, nil }
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Mixtures: only(old, 0)})
	f, other, _ := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Mixtures: only(newDie, 5)})
	require.NoError(t, e.SetMixtures(only(newDie, 5), nil))
	require.NoError(t, e.Sample(actions))
	require.NoError(t, e.Step(actions, out))
	require.Equal(t, 3, acts)
	require.Zero(t, closes)
	require.Equal(t, []uint16{vec.NoOpponent, 0, vec.NoOpponent, 0, vec.NoOpponent, 0}, out.Opponent)
	require.NoError(t, e.Reseed(1, 3))
	require.NoError(t, e.CloneAll([]int{0}, []int{2}))
	require.Zero(t, e.Opponent(0, 1), "the same opponent in the same episode")
	require.Zero(t, closes)
	require.NoError(t, e.Reset(vec.From(5), nil, out))
	require.NoError(t, f.Reset(vec.From(5), nil, other))
	require.Equal(t, 3, closes)
	for range 50 {
		require.Equal(t, other, out)
		require.NoError(t, e.Sample(actions))
		require.NoError(t, e.Step(actions, out))
		require.NoError(t, f.Step(actions, other))
	}
	require.Equal(t, 3, acts)
}

// Each episode draws an opponent: as often as its weight says, and the same one for the same seed,
// episode and seat, whatever the other environments and workers do.
func TestDrawsFollowWeightsAndSeed(t *testing.T) {
	mixtures := []vec.Mixture{nil, {{newDie, 3, 0}, {newLow, 1, 1}}, {{newDie, 1, 2}, {newLow, 1, 1}}}
	const envs, episodes = 500, 20
	e, out, _ := start(t, toy.Turns, vec.Config{Envs: envs, Mixtures: mixtures})
	seen := map[[2]uint16]int{}
	var first []uint16
	for k := range episodes {
		if k > 0 {
			require.NoError(t, e.Reset(vec.Seeds{}, nil, out))
		}
		for i := range envs {
			seen[[2]uint16{out.Opponent[3*i+1], out.Opponent[3*i+2]}]++
		}
		first = append(first, out.Opponent[:30]...)
	}
	const n = envs * episodes
	for pair, share := range map[[2]uint16]float64{{0, 2}: 0.375, {0, 1}: 0.375, {1, 2}: 0.125, {1, 1}: 0.125} {
		require.InDelta(t, share*n, seen[pair], 4*math.Sqrt(n*share*(1-share)), "seats draw independently: %v", pair)
	}
	f, out, _ := start(t, toy.Turns, vec.Config{Envs: 10, Workers: 1, Mixtures: mixtures})
	for k := range episodes {
		if k > 0 {
			require.NoError(t, f.Reset(vec.Seeds{}, nil, out))
		}
		require.Equal(t, first[30*k:30*k+30], out.Opponent)
	}
}

// A restored episode has the opponent that was drawn for it, also in another Env.
func TestRestoreDrawsTheSameOpponent(t *testing.T) {
	c := vec.Config{Envs: 40, Mixtures: []vec.Mixture{nil, {{newDie, 1, 0}, {newLow, 1, 1}}}}
	e, now, _ := start(t, toy.Pick, c)
	future(t, e, 30)
	snaps := positions(t, e)
	require.NoError(t, e.Observe(now))
	f, again, _ := start(t, toy.Pick, c)
	require.NoError(t, f.Reset(vec.From(77), nil, again))
	for i, snap := range snaps {
		require.NoError(t, f.Restore(i, snap))
	}
	require.NoError(t, f.Observe(again))
	require.Equal(t, now.Opponent, again.Opponent)
}

// Tallies count what the steps reported, once for each finished episode.
func TestTallies(t *testing.T) {
	for _, mode := range []vec.Autoreset{vec.NextStep, vec.SameStep} {
		e, out, actions := start(t, toy.Pick, vec.Config{Envs: 50, Autoreset: mode, StepLimit: 8,
			Mixtures: []vec.Mixture{{{newDie, 1, 4}, {newLow, 1, 2}}, nil}})
		want := make([]vec.Tally, 5)
		for range 60 {
			require.NoError(t, e.Sample(actions))
			require.NoError(t, e.Step(actions, out))
			ids := out.Opponent
			if mode == vec.SameStep {
				ids = out.FinalOpponent
			}
			for i := range 50 {
				t := &want[ids[2*i]%5]
				switch reward := out.Reward[2*i+1]; {
				case out.Truncated[i] == 1:
					t.Truncated++
				case out.Terminated[i] == 0:
				case reward > 0:
					t.Wins++
				case reward < 0:
					t.Losses++
				default:
					t.Draws++
				}
			}
		}
		require.Positive(t, want[2].Wins)
		require.Positive(t, want[4].Losses)
		require.Positive(t, want[4].Truncated)
		require.Equal(t, want, e.Tallies(), mode)
		own := e.TalliesOf(7)
		e.SetTalliesOf(7, nil)
		for _, t := range own {
			want[t.ID].Wins -= t.Wins
			want[t.ID].Draws -= t.Draws
			want[t.ID].Losses -= t.Losses
			want[t.ID].Truncated -= t.Truncated
		}
		require.NotEmpty(t, own)
		require.Equal(t, want, e.Tallies(), mode)
	}
}

// Two driven seats and two opponents are four pairings of every episode.
func TestTalliesOfPairings(t *testing.T) {
	g := blocking.Game
	e, out, actions := start(t, g, vec.Config{Envs: 4, Seats: 4, StepLimit: 2,
		Mixtures: []vec.Mixture{nil, {{newDie, 1, 0}}, nil, {{newDie, 1, 1}}}})
	for range 2 {
		require.NoError(t, e.Sample(actions))
		require.NoError(t, e.Step(actions, out))
	}
	require.Equal(t, []vec.Tally{{Truncated: 8}, {Truncated: 8}}, e.Tallies())
}

func TestMixturesRefused(t *testing.T) {
	inf := math.Inf(1)
	for says, m := range map[string]vec.Mixture{
		"seat 1: entry 2 has weight 0, want a finite number above 0": {{newDie, 1, 0}, {newDie, 0, 1}},
		"seat 1: entry 1 has weight -1":                              {{newDie, -1, 0}},
		"seat 1: entry 1 has weight NaN":                             {{newDie, math.NaN(), 0}},
		"seat 1: entry 1 has weight +Inf":                            {{newDie, inf, 0}},
		"seat 1: the weights up to entry 2 have no finite sum":       {{newDie, 1e308, 0}, {newDie, 1e308, 0}},
		"seat 1: entry 1 has ID 65535, want less":                    {{newDie, 1, vec.NoOpponent}},
	} {
		_, err := vec.New(toy.Pick, vec.Config{Envs: 1, Mixtures: []vec.Mixture{nil, m}})
		require.ErrorContains(t, err, says)
		e, _, _ := start(t, toy.Pick, vec.Config{Envs: 1, Mixtures: only(newDie, 0)})
		require.ErrorContains(t, e.SetMixtures([]vec.Mixture{nil, m}, nil), says)
	}
	_, err := vec.New(toy.Pick, vec.Config{Envs: 1, Mixtures: only(newDie, 0), Agents: []vec.AgentFactory{newDie}})
	require.ErrorContains(t, err, "both Agents and Mixtures are set")
	_, err = vec.New(toy.Pick, vec.Config{Envs: 1, Mixtures: make([]vec.Mixture, 3)})
	require.ErrorContains(t, err, "3 mixtures for 2 seats")
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 1, Mixtures: only(newDie, 0)})
	for _, m := range [][]vec.Mixture{{nil, nil}, {{{newDie, 1, 0}}, {{newDie, 1, 0}}}} {
		require.ErrorContains(t, e.SetMixtures(m, nil), "want agents exactly for the seats that have them already")
	}
}
