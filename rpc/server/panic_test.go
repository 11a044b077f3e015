package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// broken is an agent that panics.
type broken struct{}

func (broken) Act(context.Context, env.State, int) (env.Action, error) {
	panic("a secret of the server")
}

// TestAPanicGoesToTheLog: the client gets the numbers under which the log has the stack, the session goes on, and the
// handle works again after a reset.
func TestAPanicGoesToTheLog(t *testing.T) {
	p := start(t, func(c *server.Config) {
		agents := c.Agents
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if t.String() == "broken" {
				return func(uint64) (env.Agent, error) { return broken{}, nil }, nil
			}
			return agents(g, t)
		}
	})
	c := dial(t, p.unix)
	g, err := c.Open(toy.Pick.Name, map[string]any{"num_envs": 2, "opponents": map[int]string{1: "broken"}})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	var choose chooser
	actions := make([]byte, 2*g.Rows)
	choose.choose(g.Field("mask"), g.Rows, actions)
	err = g.Step(actions)
	require.Equal(t, wire.Internal, code(t, err))
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), ".go:")
	require.Contains(t, p.logged(), "a secret of the server")
	require.Contains(t, p.logged(), "panic_test.go")
	require.NoError(t, g.CallSlab("reset"), "the session goes on")
	require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: "first"}))
	require.NoError(t, g.CallSlab("reset"))
	stepped(t, g, &choose)
}
