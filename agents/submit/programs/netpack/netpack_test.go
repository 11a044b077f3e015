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
				l.B[i] = float32(r.NormFloat64() * math.Exp(20*r.NormFloat64()))
			}
		}
		net, err := mlp.New(layers)
		require.NoError(t, err)
		text, err := Encode(net, bits)
		require.NoError(t, err)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, len(strings.TrimSpace(line)), LineLen)
		}
		decoded := Trusted(text)
		for i, w := range weights(net) {
			got := weights(decoded)[i]
			require.Equal(t, Round(w, bits), got)
			require.Equal(t, got, Round(got, bits))
			require.InEpsilon(t, w, got, math.Exp2(float64(8-bits)))
		}
		if bits == Exact {
			require.Equal(t, net.Layers(), decoded.Layers())
		}
		again, err := Encode(decoded, bits)
		require.NoError(t, err)
		require.Equal(t, text, again)
	}
	_, err := Encode(nil, Exact+1)
	require.Error(t, err)
	require.False(t, math.IsInf(float64(Round(math.MaxFloat32, 16)), 0))
	require.Zero(t, Round(0, 16))
}
