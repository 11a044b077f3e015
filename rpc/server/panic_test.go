package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// panics is the choice of an agent that panics.
func panics(context.Context, []env.Action) (env.Action, error) { panic("a secret of the server") }

// TestAPanicGoesToTheLog: the client gets the numbers under which the log has the stack, the session goes on, and the
// handle works again after a reset.
func TestAPanicGoesToTheLog(t *testing.T) {
	p := start(t, func(c *server.Config) { addAgent(c, "panics", playing(panics)) })
	g := startGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]string{1: "panics"}})
	var c chooser
	err := g.Step(c.of(g))
	require.Equal(t, wire.Internal, code(t, err))
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), ".go:")
	require.Contains(t, p.logged(), "a secret of the server")
	require.Contains(t, p.logged(), "panic_test.go")
	require.NoError(t, g.Reset(nil), "the session goes on")
	require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: "first"}))
	require.NoError(t, g.Reset(nil))
	stepped(t, g, &c)
}
