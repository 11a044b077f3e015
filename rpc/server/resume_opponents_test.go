package server_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
)

// Games with other opponents than those of the checkpoint make room for it: those that are not resumed need a reset.
func TestResumeReplacesOpponents(t *testing.T) {
	p := start(t, real(1))
	a := startParts(t, p, "tetrisduel", 3, map[string]any{"opponents": map[int]any{1: mixed("random", 1, "first", 2)}})
	a.play(t, 0, 60, false)
	require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: "hand:ply=1"}), "for later episodes")
	head, all := a.checkpoint(t)
	require.Contains(t, string(head), `"opponents":["random","first","hand:ply=1"],"mixtures":[[],[{"number":2,"weight":1}]]`)

	b := startParts(t, p, "tetrisduel", 3, map[string]any{"opponents": map[int]string{1: "first"}})
	b.play(t, 0, 60, false)
	require.NoError(t, b[0].CallSlab("resume", u32(1), head, all[1]))
	require.Equal(t, wire.NeedsReset, code(t, b[0].Step(make([]byte, 2*b[0].Rows))))
	require.NoError(t, b[0].CallSlab("resume", u32(2, 0), head, bytes.Join([][]byte{all[2], all[0]}, nil)))
	same := func(options ...any) [][4]uint64 {
		t.Helper()
		want := resultsOf(t, a[0], options...)
		require.Equal(t, want, resultsOf(t, b[0], options...))
		return want
	}
	require.Len(t, same(map[string]any{"reset": true, "games": u32(1)}), 3, "results are part of it")
	require.NotZero(t, same()[0])
	require.Equal(t, a.play(t, 60, 90, false), b.play(t, 60, 90, false))
	require.NotZero(t, same()[2])
}

// Weights that were uploaded are named by their content: another session uploads them before it resumes. What the
// server accounts for is given back, whether requests fail or not.
func TestResumeWithUploads(t *testing.T) {
	p := start(t, real(1))
	weights, err := os.ReadFile(filepath.Join("..", "..", "agents", "bots", "tetrisduelbot", "weights", "tetrisduel.safetensors"))
	require.NoError(t, err)
	name := fmt.Sprintf("sha256:%x", sha256.Sum256(weights))
	spec := "learned:ply=1,weights=" + name
	from, into := dial(t, p.unix), dial(t, p.unix)
	start := memory(t, from)
	require.NoError(t, from.Call("upload", nil, "tetrisduel", spec, weights))
	g := startGames(t, from, "tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: mixed(spec, 1, "random", 1)}})
	rolled(t, g, spec)
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "random"}), "for later episodes")
	require.NoError(t, from.Call("drop_upload", nil, name))
	c := result[saved](t, g, "checkpoint", nil)
	require.Equal(t, 3, c.Count)
	require.Equal(t, []string{name}, c.Weights, "of an opponent that leaves and of the policy")
	require.Equal(t, map[string][]byte{"weights": weights}, result[map[string][]byte](t, g, "weights", name))
	require.ErrorContains(t, g.Call("weights", nil, "sha256:00"), `no agent of handle 1 was loaded from "sha256:00"`)

	other := openGames(t, into, "tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: "first"}})
	held := memory(t, into)
	resume := func() error { return other.CallSlab("resume", nil, c.Head, c.Games) }
	refused(t, wire.BadParams, "no such weights were uploaded in this session", resume())
	require.Equal(t, held, memory(t, into), "nothing is kept of what failed")
	require.NoError(t, into.Call("upload", nil, "tetrisduel", spec, weights))
	for range 3 {
		require.NoError(t, resume())
		require.Greater(t, memory(t, into), held)
		require.Equal(t, g.Field("opponent"), other.Field("opponent"))
	}
	require.Equal(t, rolled(t, g, spec), rolled(t, other, spec))
	require.NoError(t, other.Call("close", nil))
	require.NoError(t, g.Call("close", nil))
	require.NoError(t, into.Call("drop_upload", nil, name))
	require.Equal(t, start, memory(t, into))
}
