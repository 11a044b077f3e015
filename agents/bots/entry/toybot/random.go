package toybot

import (
	"math"
	"math/rand"
	"testing"

	"blockyard/agents/mlp"
)

// RandomNet returns a network of these layer sizes, from its inputs to its outputs, with random weights and no biases.
func RandomNet(t testing.TB, seed int64, sizes ...int) *mlp.Net {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	var layers []mlp.Layer
	for i, in := range sizes[:len(sizes)-1] {
		l := mlp.Layer{In: in, Out: sizes[i+1], W: make([]float32, in*sizes[i+1]), B: make([]float32, sizes[i+1])}
		for k := range l.W {
			l.W[k] = float32(r.NormFloat64() / math.Sqrt(float64(in)))
		}
		layers = append(layers, l)
	}
	net, err := mlp.New(layers)
	if err != nil {
		t.Fatal(err)
	}
	return net
}
