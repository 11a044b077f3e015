package vec_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// moved returns copies of the agents of environment i.
func moved(e *vec.Env, i int) []vec.Seated {
	all := make([]vec.Seated, e.Config().Seats)
	for seat := range all {
		all[seat] = e.Seated(i, seat)
		if d, ok := all[seat].Agent.(*die); ok {
			twin := *d
			all[seat].Agent = &twin
		}
	}
	return all
}

// An agent that has left its seat's mixture plays on to the end of its episode after Resume too.
func TestResumeKeepsLeavingAgents(t *testing.T) {
	other := func(seed uint64) (env.Agent, error) { return newDie(^seed) }
	both := []vec.Mixture{nil, {{newDie, 1, 0}, {other, 1, 1}}}
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 4, Mixtures: only(newDie, 0)})
	f, _, _ := start(t, toy.Pick, vec.Config{Envs: 4, Mixtures: both})
	for _, x := range []*vec.Env{e, f} {
		require.NoError(t, x.SetMixtures(only(other, 1), nil))
	}
	for i, snap := range positions(e) {
		require.NoError(t, f.Resume(i, snap, moved(e, i)))
		require.Zero(t, f.Opponent(i, 1))
		require.NoError(t, f.CloneAll([]int{i}, []int{i}))
	}
	require.Equal(t, future(t, e, 60), future(t, f, 60))
	require.Equal(t, uint16(1), f.Opponent(0, 1))
}

func TestResumeRefuses(t *testing.T) {
	var n counts
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 2, Agents: []vec.AgentFactory{nil, n.agent}})
	snaps, none := positions(e), vec.Seated{}
	some := vec.Seated{Agent: &die{}, Choice: vec.Choice{Agent: n.agent, ID: 1}}
	bad := slices.Clone(snaps[0])
	bad[28] = 0xff
	refused := func(i int, snap []byte, says string, agents ...vec.Seated) {
		require.ErrorContains(t, e.Resume(i, snap, agents), says)
		require.Equal(t, snaps, positions(e))
	}
	refused(2, snaps[0], "environment 2 of 2", none, some)
	refused(0, snaps[0][1:], "snapshot of", none, some)
	refused(0, bad, "unknown flags", none, some)
	refused(0, snaps[0], "1 agents to resume, want one for each of 2 seats", some)
	refused(0, snaps[0], "seat 1: want an agent for every seat that is not driven or asked", none, none)
	refused(0, snaps[0], "seat 0: want an agent", some, some)
	refused(0, snaps[0], "the agent has the ID 0, want less, and a factory", none, vec.Seated{Agent: &die{}})
	refused(0, snaps[0], "has the ID 65535", none,
		vec.Seated{Agent: &die{}, Choice: vec.Choice{Agent: n.agent, ID: vec.NoOpponent}})
	require.ErrorContains(t, e.CheckSnapshot(0, bad), "unknown flags")
	require.NoError(t, e.CheckSnapshot(0, snaps[1]))
	require.Zero(t, n.closes)
	require.NoError(t, e.Resume(0, snaps[1], []vec.Seated{none, some}))
	require.Equal(t, 1, n.closes, "the agent that was replaced")
}

// What is forgotten must be reset or resumed, and then plays as in a new Env.
func TestForget(t *testing.T) {
	var n counts
	c := vec.Config{Envs: 3, Agents: []vec.AgentFactory{nil, n.agent}}
	e, out, actions := start(t, toy.Pick, c)
	snap := envtest.Must(e.Snapshot(0, nil))
	future(t, e, 30)
	require.NotZero(t, e.Tallies()[1])
	tracer := newNotebook(toy.Pick, 2)
	e.Trace(tracer)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	n.closes = 0
	require.NoError(t, e.Forget())
	require.Equal(t, []int{3, 3}, []int{n.closes, tracer.dropped})
	require.Zero(t, e.Tallies()[1])
	require.NoError(t, e.Observe(out))
	require.NotContains(t, out.Opponent, uint16(1))
	require.ErrorIs(t, e.Step(actions, out), vec.ErrNeedsReset)
	seated := []vec.Seated{{}, {Agent: &die{}, Choice: vec.Choice{Agent: n.agent, ID: 7}}}
	require.NoError(t, e.Resume(0, snap, seated))
	require.True(t, e.Live(0))
	require.False(t, e.Live(1))
	require.Equal(t, uint16(7), e.Opponent(0, 1))
	require.Len(t, e.Tallies(), 8)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	c.Agents = []vec.AgentFactory{nil, newDie}
	f, _, _ := start(t, toy.Pick, c)
	n.games = 0
	require.Equal(t, future(t, f, 40), future(t, e, 40), "kept or made anew, the same game")
	require.Greater(t, n.games, 4, "an agent with NewGame is told of new episodes")
}
