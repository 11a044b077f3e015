package mlp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMean(t *testing.T) {
	nets := []*Net{random(t, 1, 30, 8, 1), random(t, 2, 30, 16, 1), random(t, 3, 30, 5, 1)}
	mean, err := Mean(nets)
	require.NoError(t, err)
	require.Equal(t, 29, mean.Layers()[0].Out)
	const rows = 50
	x, got, want := inputs(4, rows*30), make([]float32, rows), make([]float64, rows)
	mean.Forward(x, rows, got)
	for _, n := range nets {
		out := make([]float32, rows)
		n.Forward(x, rows, out)
		for i, v := range out {
			want[i] += float64(v) / 3
		}
	}
	for i := range got {
		require.InDelta(t, want[i], got[i], 1e-5)
	}
	one, err := Mean(nets[:1])
	require.NoError(t, err)
	require.Equal(t, nets[0].Layers(), one.Layers())
}

func TestMeanRefuses(t *testing.T) {
	for _, nets := range [][]*Net{
		nil,
		{random(t, 1, 30, 8, 1), random(t, 2, 31, 8, 1)},
		{random(t, 1, 30, 8, 8, 1)},
		{random(t, 1, 30, 8, 2)},
		{random(t, 1, 30, 1)},
	} {
		_, err := Mean(nets)
		require.ErrorContains(t, err, "the mean")
	}
}
