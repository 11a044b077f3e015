package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
)

// FuzzMixture gives a seat any opponents with any weights: refused, and then nothing has changed, or playing. The memory
// that they count for is returned when they leave.
func FuzzMixture(f *testing.F) {
	p := start(f, real(1))
	c := dial(f, p.unix)
	options := map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}}
	g := startGames(f, c, "blockbattle", options)
	uploaded := "hand:weights=" + sumOf("{}")
	require.Equal(f, wire.BadParams, code(f, c.Call("upload", nil, "blockbattle", uploaded, []byte("{}"))))
	f.Add(uint8(0), "random", "hand:ply=1", 1.0, 2.0)
	f.Add(uint8(1), uploaded, "first", 0.0, -1.0)
	f.Add(uint8(2), "exec:true", "learned:weights=/dev/zero", 1e308, 1e308)
	f.Add(uint8(3), "hand:ply=4,width=999", "hand:time=1h", 5e-324, 1.0)
	f.Add(uint8(4), strings.Repeat("x", 5000), "", 1.0, 1.0)
	base := memory(f, c)
	f.Fuzz(func(t *testing.T, form uint8, a, b string, v, w float64) {
		var mixture any
		switch form % 6 {
		case 0:
			mixture = a
		case 1:
			mixture = []any{[]any{a, v}, []any{b, w}}
		case 2:
			mixture = []any{[]any{a, v}, []any{a, w}, []any{b}}
		case 3:
			mixture = slices.Repeat([]any{[]any{a, v}}, int(form)+2)
		case 4:
			mixture = map[string]any{a: v}
		case 5:
			mixture = []any{a, b, v, w, []any{w, a}}
		}
		err := g.Call("set_opponents", nil, map[int]any{1: mixture})
		require.Contains(t, []int{0, wire.BadParams, wire.Limit}, code(t, err), err)
		require.Less(t, len(fmt.Sprint(err)), 9000, "an error repeats what it refuses in part only")
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
		require.NoError(t, g.Reset(nil))
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}), "now those before are in no game")
		// A spec that a handle has known keeps its number and a little memory.
		known := result[tally](t, g, "opponent_stats", nil).Count
		require.LessOrEqual(t, memory(t, c)-base, int64(known*(128+4096)))
		if known > 1000 { // as long as a handle is open
			require.NoError(t, g.Call("close", nil))
			g = openGames(t, c, "blockbattle", options)
		}
		require.NotContains(t, p.logged(), "panic")
	})
}
