package commands

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/network"
)

// The mean of a network and of one that is it times a number is the network again, with twice the units.
func TestMerge(t *testing.T) {
	g := games.TetrisDuel
	dir := t.TempDir()
	one, err := g.Load("")
	require.NoError(t, err)
	l := one.Layers()
	last := mlp.Layer{In: l[1].In, Out: 1, B: []float32{3 * l[1].B[0]}}
	for _, w := range l[1].W {
		last.W = append(last.W, 3*w)
	}
	other, err := mlp.New([]mlp.Layer{l[0], last})
	require.NoError(t, err)
	three, out := filepath.Join(dir, "three.safetensors"), filepath.Join(dir, "out.safetensors")
	require.NoError(t, mlp.Save(three, other, g.Facts(nil)))
	require.NoError(t, command(t, "merge", "tetrisduel", "learned", three, "--out", out))
	mean, err := g.Load(out)
	require.NoError(t, err)
	require.Equal(t, 2*l[0].Out, mean.Layers()[0].Out)
	x := make([]float32, one.In())
	for i := range x {
		x[i] = float32(i%5) / 4
	}
	a, b := make([]float32, 1), make([]float32, 1)
	one.Forward(x, 1, a)
	mean.Forward(x, 1, b)
	require.InDelta(t, a[0], b[0], 1e-4)

	require.ErrorContains(t, command(t, "merge", "blockbattle", three), `weights are for game "tetrisduel", not "blockbattle"`)
	require.ErrorIs(t, command(t, "merge", "tetrisduel", filepath.Join(dir, "none")), os.ErrNotExist)
	last.W = make([]float32, last.In)
	still, err := mlp.New([]mlp.Layer{l[0], last})
	require.NoError(t, err)
	require.NoError(t, mlp.Save(three, still, g.Facts(nil)))
	require.ErrorContains(t, command(t, "merge", "tetrisduel", "learned", three), "do not differ")
}

func TestDistill(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.safetensors")
	args := []string{"distill", "blockbattle", "learned", "--hidden=8", "--iterations=3", "--out", out}
	require.NoError(t, command(t, args...))
	net, err := games.BlockBattle.Load(out)
	require.NoError(t, err)
	require.Equal(t, 8, network.Sizes(net)[1])
	require.FileExists(t, out+".run.json")
	again := out + "2"
	require.NoError(t, command(t, "distill", "blockbattle", "learned", "--iterations=2", "--from", out, "--out", again))

	stopped, cancel := context.WithCancel(t.Context())
	cancel() // as Ctrl-C at once: what there is, is saved
	require.NoError(t, os.Remove(out))
	require.NoError(t, commandUntil(t, stopped, args...))
	require.FileExists(t, out)
	require.ErrorContains(t, command(t, "distill", "blockbattle", "learned", "--rate=7"), "rate is 7")
}
