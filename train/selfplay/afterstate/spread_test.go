package afterstate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/train/games"
)

// A net whose output is multiplied differs that much more between choices; a constant makes no difference.
func TestSpreads(t *testing.T) {
	for _, g := range []*games.Game{games.BlockBattle, games.TetrisDuel, games.WinTetris} {
		layers := func(scale, bias float32) *mlp.Net {
			n := len(g.Features)
			w := make([]float32, n)
			for i := range w {
				w[i] = float32(i%7-3) / 8
			}
			net, err := mlp.New([]mlp.Layer{{In: n, Out: 1, W: w, B: []float32{0}}, {In: 1, Out: 1, W: []float32{scale}, B: []float32{bias}}})
			require.NoError(t, err)
			return net
		}
		got := Spreads(g, []*mlp.Net{layers(1, 0), layers(3, 0.5), layers(-0.5, 2)})
		require.Positive(t, got[0])
		require.InEpsilon(t, 3*got[0], got[1], 1e-3)
		require.InEpsilon(t, got[0]/2, got[2], 1e-3)
		require.Equal(t, got, Spreads(g, []*mlp.Net{layers(1, 0), layers(3, 0.5), layers(-0.5, 2)}))
	}
}
