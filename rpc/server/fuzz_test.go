package server_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// FuzzRestore restores states with bytes changed: refused, or a game that can be looked
// at and played on. A patch is a list of places (two bytes) and what is put there.
func FuzzRestore(f *testing.F) {
	p := start(f, nil)
	g, err := dial(f, p.unix).Open("blockbattle", map[string]any{"num_envs": 1, "opponents": map[int]string{1: "first"}})
	require.NoError(f, err)
	require.NoError(f, g.CallSlab("reset"))
	var c chooser
	actions := make([]byte, 2*g.Rows)
	var good [][]byte
	for i := range 20 {
		var kept states
		require.NoError(f, g.Call("snapshot", &kept, nil))
		good = append(good, kept.States)
		f.Add(uint8(i), []byte{0, 8 * byte(i), 255})
		c.choose(g.Field("mask"), g.Rows, actions)
		require.NoError(f, g.Step(actions))
	}
	f.Fuzz(func(t *testing.T, which uint8, patch []byte) {
		b := bytes.Clone(good[int(which)%len(good)])
		for ; len(patch) >= 3; patch = patch[3:] {
			b[(int(patch[0])<<8|int(patch[1]))%len(b)] = patch[2]
		}
		if len(patch) == 1 { // and now and then a length
			b = b[:min(len(b), int(patch[0]))]
		}
		tryState(t, g, b)
	})
}

func tryState(t *testing.T, g *client.Games, b []byte) {
	err := g.CallSlab("restore", nil, b)
	if err != nil {
		require.Contains(t, []int{wire.BadState, wire.BadParams}, code(t, err), err)
		return
	}
	require.NoError(t, g.Call("render", nil, 0))
	require.NoError(t, g.Call("afterstates", nil, nil))
	none := bytes.Repeat([]byte{0xff}, 2*g.Rows)
	var c chooser
	for range 4 {
		if err := g.Step(none); err != nil { // the state of a game that never began
			require.Equal(t, wire.NeedsReset, code(t, err), err)
			return
		}
		c.choose(g.Field("mask"), g.Rows, none)
	}
}
