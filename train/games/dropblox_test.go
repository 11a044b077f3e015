package games

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// The planner plays by the net it is given: one that prefers high stacks
// soon has one.
func TestDropbloxIsPlayedByTheNet(t *testing.T) {
	const peak = 7 // "peak"
	require.Equal(t, "peak", Dropblox.Features[peak])
	height := func(taste float32) (sum int) {
		w := make([]float32, len(Dropblox.Features))
		w[peak] = taste
		net, err := mlp.New([]mlp.Layer{{In: len(w), Out: 1, W: w, B: []float32{0}}})
		require.NoError(t, err)
		a := Dropblox.Solo.Planner(net, 4)
		var s dropblox.State
		s.Reset(3)
		x := make([]float32, len(w))
		for range 5 {
			act, points, ok := a(&s, x)
			require.True(t, ok)
			require.GreaterOrEqual(t, points, int(s.Points))
			require.NotZero(t, x[peak])
			require.NoError(t, env.Apply(dropblox.Game, &s, env.Alone(0, act)))
		}
		Dropblox.Reader().Own(&s, 0, x)
		return int(x[peak]*100 + 0.5)
	}
	require.Less(t, height(-1), height(1))
}
