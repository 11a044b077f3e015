package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirst splits games over two handles: what they do and draw is what one handle would.
func TestFirst(t *testing.T) {
	const n, cut = 7, 3
	whole := opened(t, "blockbattle", map[string]any{"num_envs": n, "seed": 5})
	parts := []int{0, cut, n}
	type drawn struct {
		Planes  []byte `msgpack:"planes"`
		Globals []byte `msgpack:"globals"`
		States  []byte `msgpack:"states"`
	}
	ask := func(g interface {
		CallSlab(string, ...any) error
		Call(string, any, ...any) error
	}) (all []drawn) {
		all = make([]drawn, 2)
		require.NoError(t, g.CallSlab("reset"))
		require.NoError(t, g.Call("rollout", nil, 5, map[string]any{"policy": "first", "keep": "last"}))
		require.NoError(t, g.Call("afterstates", &all[0], nil, map[string]any{"seed": 8}))
		require.NoError(t, g.CallSlab("clone", nil, nil, map[string]any{"reseed": 3}))
		require.NoError(t, g.Call("snapshot", &all[1], nil))
		return all
	}
	want, got := ask(whole), make([]drawn, 2)
	for k := range 2 {
		g := opened(t, "blockbattle", map[string]any{"num_envs": parts[k+1] - parts[k], "seed": 5, "first": parts[k]})
		for i, d := range ask(g) {
			got[i].Planes = append(got[i].Planes, d.Planes...)
			got[i].Globals = append(got[i].Globals, d.Globals...)
			got[i].States = append(got[i].States, d.States...)
		}
	}
	require.Equal(t, want[0].Planes, got[0].Planes)
	require.Equal(t, want[0].Globals, got[0].Globals)
	require.Equal(t, want[1].States, got[1].States)
}
