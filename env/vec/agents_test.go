package vec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
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

// Games in progress keep their agents; those that start later play as if they never had others.
func TestSetAgent(t *testing.T) {
	acts, closes := 0, 0
	old := func(uint64) (env.Agent, error) { return &counted{acts: &acts, closes: &closes}, nil }
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Agents: []vec.AgentFactory{nil, old}})
	f, other, _ := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Agents: []vec.AgentFactory{nil, newDie}})
	for _, seat := range []int{-1, 0, 2} {
		require.ErrorContains(t, e.SetAgent(seat, newDie), "a seat that has an agent")
	}
	require.ErrorContains(t, e.SetAgent(1, nil), "want a factory")
	require.NoError(t, e.SetAgent(1, newDie))
	require.NoError(t, e.Sample(actions))
	require.NoError(t, e.Step(actions, out))
	require.Equal(t, 3, acts)
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
