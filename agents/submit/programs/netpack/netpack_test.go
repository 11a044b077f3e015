package netpack

import (
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
)

func layers(seed int64, sizes ...int) []mlp.Layer {
	r := rand.New(rand.NewSource(seed))
	var out []mlp.Layer
	for i := 0; i+1 < len(sizes); i++ {
		l := mlp.Layer{In: sizes[i], Out: sizes[i+1]}
		for range l.In * l.Out {
			l.W = append(l.W, float32(r.NormFloat64()))
		}
		for range l.Out {
			l.B = append(l.B, float32(r.NormFloat64()*math.Exp(20*r.NormFloat64())))
		}
		out = append(out, l)
	}
	return out
}

func TestTrustedReadsWhatEncodeWrites(t *testing.T) {
	for bits := Fewest; bits <= Exact; bits++ {
		in := layers(int64(bits), 7, 5, 3, 1)
		net, err := mlp.New(in)
		require.NoError(t, err)
		text, err := Encode(net, bits)
		require.NoError(t, err)
		decoded := Trusted(text)
		out := decoded.Layers()
		require.Len(t, out, len(in))
		for i, l := range in {
			for j, w := range append(l.W, l.B...) {
				got := append(out[i].W[:len(l.W):len(l.W)], out[i].B...)[j]
				require.Equal(t, Round(w, bits), got)
				require.Equal(t, got, Round(got, bits))
				require.InEpsilon(t, w, got, math.Exp2(float64(8-bits)))
			}
		}
		if bits == Exact {
			require.Equal(t, in, out)
		}
		again, err := Encode(decoded, bits)
		require.NoError(t, err)
		require.Equal(t, text, again)
		for _, line := range strings.Split(text, "\n") {
			require.LessOrEqual(t, len(line), LineLen)
		}
	}
}

func TestRoundKeepsTheGreatestFinite(t *testing.T) {
	require.False(t, math.IsInf(float64(Round(math.MaxFloat32, 16)), 0))
	require.Equal(t, float32(0), Round(0, 16))
}

func TestEncodeRefuses(t *testing.T) {
	_, err := Encode(nil, 33)
	require.Error(t, err)
}
