package commands

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
)

// TestAgentsAreCounted: what opponents and policies may take counts towards max_memory before they are made, and an
// error names them. All of it is given back.
func TestAgentsAreCounted(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--max-memory", "12000000", "--workers", "2")
	c := dial(t, p.ready[0])
	memory := func() int64 { return statsOf(t, c).Memory }
	refused := func(err error, spec string) {
		t.Helper()
		var refusal *wire.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, wire.Limit, refusal.Code)
		require.Equal(t, "max_memory", refusal.Data["limit"])
		require.Equal(t, spec, refusal.Data["spec"])
		require.Regexp(t, fmt.Sprintf("^the agents of %q take [0-9]+ bytes: limit max_memory is 12000000", spec), refusal.Msg)
	}
	open := func(game, opponent string, games int) error {
		_, err := c.Open(game, map[string]any{"num_envs": games, "opponents": map[int]string{1: opponent}})
		return err
	}
	g, err := c.Open("dropblox", map[string]any{"num_envs": 4})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	before := memory()
	policy := func(spec string) error {
		return g.Call("rollout", nil, 1, map[string]any{"keep": "last", "policy": spec})
	}
	refused(policy("hand:width=20000"), "hand:width=20000")
	refused(policy("hand:time=1ms"), "hand:time=1ms")
	require.Equal(t, before, memory())
	require.NoError(t, policy("hand:width=4"))
	require.Greater(t, memory(), before+2*300_000)
	require.NoError(t, policy("hand:width=8"))
	require.Less(t, memory(), before+2*600_000, "the other policy is gone")
	require.NoError(t, g.Call("close", nil))
	require.Zero(t, memory())

	refused(open("blocking", "hand:ply=6", 8), "hand:ply=6")
	require.NoError(t, open("blocking", "hand:ply=6", 1), "one game has one worker")
	require.NoError(t, c.Call("close", nil, 2))
	require.Zero(t, memory())

	// A second spec takes its weights and their multiples; the searches are those of the games that are being stepped.
	g, err = c.Open("blockbattle", map[string]any{"num_envs": 4, "opponents": map[int]string{1: "learned"}})
	require.NoError(t, err)
	one := memory()
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: []any{[]any{"learned", 1}, []any{"learned:ply=1", 1}}}))
	require.Less(t, memory()-one, int64(500_000))
	h := map[int]string{1: "hand:ply=4,width=10000"}
	for k := range 8 { // a search of four plies takes 1.6 MB, and is there once for each worker
		h[1] = fmt.Sprintf("hand:ply=4,width=%d", 9000+k)
		require.NoError(t, g.Call("set_opponents", nil, h))
	}
	require.Less(t, memory()-one, int64(3_000_000))
}
