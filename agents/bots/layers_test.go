//go:build unix

package bots

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env/blockbattle"
)

// BenchmarkLayers is BenchmarkDecide for the shipped network of Block Battle, which has one hidden layer, and for the
// same with a second one of 32 units. The second layer is random: the actions hardly depend on it, as the positions are
// given.
func BenchmarkLayers(b *testing.B) {
	g := blockbattle.Game
	e := Of(g)
	net, err := e.LoadNet(g, "")
	require.NoError(b, err)
	first := net.Layers()[0]
	layers := []mlp.Layer{first, {In: first.Out, Out: 32}, {In: 32, Out: 1}}
	r := rand.New(rand.NewPCG(1, 2))
	for i := 1; i < len(layers); i++ {
		l := &layers[i]
		l.W, l.B = make([]float32, l.In*l.Out), make([]float32, l.Out)
		for k := range l.W {
			l.W[k] = r.Float32() - 0.5
		}
	}
	net, err = mlp.New(layers)
	require.NoError(b, err)
	var data bytes.Buffer
	require.NoError(b, mlp.Write(&data, net, e.Facts(g, nil)))
	file := filepath.Join(b.TempDir(), "net.safetensors")
	require.NoError(b, os.WriteFile(file, data.Bytes(), 0o600))
	b.Run("64", func(b *testing.B) { benchmarkChoice(b, g, "learned") })
	b.Run("64-32", func(b *testing.B) { benchmarkChoice(b, g, "learned:weights="+file) })
}
