package netpack

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/mlp"
	"blockyard/env/envtest"
)

// weights are the weights of a network in the order of its text.
func weights(net *mlp.Net) (all []float32) {
	for _, l := range net.Layers() {
		all = slices.Concat(all, l.W, l.B)
	}
	return all
}

func TestTrustedReadsWhatEncodeWrites(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for bits := Fewest; bits <= Exact; bits++ {
		layers := toybot.RandomNet(t, int64(bits), 7, 5, 3, 1).Layers()
		for _, l := range layers {
			for i := range l.B {
				l.B[i] = float32(r.NormFloat64() * math.Exp2(-20*r.Float64()) * math.Exp2(float64(bits-20)))
			}
		}
		net := envtest.Must(mlp.New(layers))
		text := envtest.Must(Encode(net, bits))
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, len(strings.TrimSpace(line)), LineLen)
		}
		decoded := Trusted(text)
		for i, w := range weights(net) {
			require.InEpsilon(t, w, weights(decoded)[i], math.Exp2(float64(5-bits)))
		}
		if bits == Exact {
			require.Equal(t, net.Layers(), decoded.Layers())
		}
		require.Equal(t, text, envtest.Must(Encode(decoded, bits)))
	}
	require.Error(t, envtest.Failed(Encode(nil, Exact+1)))
}

// Weights far smaller than the largest are rounded to multiples of the smallest number: 2^-53 of it with all bits.
func TestSmallWeights(t *testing.T) {
	for _, largest := range []float32{1, -math.MaxFloat32, 1.999, 1e-30, 0} {
		x := []float32{largest, largest * 0x1p-30, largest * 0x1.8p-52, largest * 0x1p-60, 0}
		net := envtest.Must(mlp.New([]mlp.Layer{{In: len(x), Out: 1, W: x, B: []float32{0}}}))
		got := weights(Trusted(envtest.Must(Encode(net, Exact))))
		require.Equal(t, x[:2], got[:2])
		require.InDelta(t, x[2], got[2], math.Abs(float64(largest))*0x1p-53)
		require.Equal(t, []float32{0, 0, 0}, got[3:])
	}
}
