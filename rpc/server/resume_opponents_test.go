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
	a := openParts(t, p, "tetrisduel", 3, map[string]any{"opponents": map[int]any{1: mixed("random", 1, "first", 2)}}, 0)
	require.NoError(t, a[0].CallSlab("reset"))
	a.play(t, 0, 60, false)
	require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: "hand:ply=1"}), "for later episodes")
	head, all := a.checkpoint(t)
	require.Contains(t, string(head), `"opponents":["random","first","hand:ply=1"],"mixtures":[[],[{"number":2,"weight":1}]]`)

	b := openParts(t, p, "tetrisduel", 3, map[string]any{"opponents": map[int]string{1: "first"}}, 0)
	require.NoError(t, b[0].CallSlab("reset"))
	b.play(t, 0, 60, false)
	require.NoError(t, b[0].CallSlab("resume", u32(1), head, all[1]))
	require.Equal(t, wire.NeedsReset, code(t, b[0].Step(make([]byte, 2*b[0].Rows))))
	require.NoError(t, b[0].CallSlab("resume", u32(2, 0), head, bytes.Join([][]byte{all[2], all[0]}, nil)))
	var before, after tally
	require.NoError(t, a[0].Call("opponent_stats", &before, map[string]any{"reset": true, "games": u32(1)}))
	require.NoError(t, b[0].Call("opponent_stats", &after, map[string]any{"reset": true, "games": u32(1)}))
	require.Equal(t, 3, after.Count)
	require.Equal(t, before.results(), after.results(), "results are part of it")
	require.NoError(t, a[0].Call("opponent_stats", &before))
	require.NoError(t, b[0].Call("opponent_stats", &after))
	require.Equal(t, before.results(), after.results())
	require.NotZero(t, after.results()[0])
	require.Equal(t, a.play(t, 60, 90, false), b.play(t, 60, 90, false))
	require.NoError(t, a[0].Call("opponent_stats", &before))
	require.NoError(t, b[0].Call("opponent_stats", &after))
	require.Equal(t, before.results(), after.results())
	require.NotZero(t, after.results()[2])
}

// Weights that were uploaded are named by their content: another session uploads them before it resumes. What the
// server accounts for is given back, whether requests fail or not.
func TestResumeWithUploads(t *testing.T) {
	p := start(t, real(1))
	weights, err := os.ReadFile(filepath.Join("..", "..", "agents", "bots", "tetrisduelbot", "weights", "tetrisduel.safetensors"))
	require.NoError(t, err)
	spec := fmt.Sprintf("learned:ply=1,weights=sha256:%x", sha256.Sum256(weights))
	from, into := dial(t, p.unix), dial(t, p.unix)
	start := memory(t, from)
	require.NoError(t, from.Call("upload", nil, "tetrisduel", spec, weights))
	g, err := from.Open("tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: mixed(spec, 1, "random", 1)}})
	require.NoError(t, err)
	a := parts{g}
	require.NoError(t, g.CallSlab("reset"))
	rolled(t, g, spec)
	name := spec[len("learned:ply=1,weights="):]
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "random"}), "for later episodes")
	require.NoError(t, from.Call("drop_upload", nil, name))
	head, all := a.checkpoint(t)
	var c struct {
		Weights []string `msgpack:"weights"`
	}
	require.NoError(t, g.Call("checkpoint", &c, nil))
	require.Equal(t, []string{name}, c.Weights, "of an opponent that leaves and of the policy")
	var file struct {
		Weights []byte `msgpack:"weights"`
	}
	require.NoError(t, g.Call("weights", &file, name))
	require.Equal(t, weights, file.Weights)
	err = g.Call("weights", &file, "sha256:00")
	require.ErrorContains(t, err, `no agent of handle 1 was loaded from "sha256:00"`)

	other, err := into.Open("tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: "first"}})
	require.NoError(t, err)
	held := memory(t, into)
	games := bytes.Join(all, nil)
	err = other.CallSlab("resume", nil, head, games)
	require.Equal(t, wire.BadParams, code(t, err))
	require.ErrorContains(t, err, "no such weights were uploaded in this session")
	require.Equal(t, held, memory(t, into), "nothing is kept of what failed")
	require.NoError(t, into.Call("upload", nil, "tetrisduel", spec, weights))
	for range 3 {
		require.NoError(t, other.CallSlab("resume", nil, head, games))
		require.Greater(t, memory(t, into), held)
		require.Equal(t, g.Field("opponent"), other.Field("opponent"))
	}
	require.Equal(t, rolled(t, g, spec), rolled(t, other, spec))
	require.NoError(t, other.Call("close", nil))
	require.NoError(t, g.Call("close", nil))
	require.NoError(t, into.Call("drop_upload", nil, name))
	require.Equal(t, start, memory(t, into))
}
