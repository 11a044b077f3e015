package games

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// What games begin with late is a position that rules accept, of other scores and boards.
func TestRaisedDropblox(t *testing.T) {
	var r env.Rand
	r.Seed(4)
	scores, rows, large := map[int32]bool{}, map[int]bool{}, 0
	for seed := range uint64(300) {
		var s dropblox.State
		s.Reset(seed)
		Dropblox.Damage(&s, &r)
		require.NoError(t, s.Check())
		require.NotZero(t, s.Acting())
		scores[s.Points] = true
		rows[dropblox.SizeOf(int(s.Blocks[3]))] = true
		if dropblox.SizeOf(int(s.Blocks[0])) > 6 {
			large++
		}
	}
	require.Greater(t, len(scores), 150)
	require.Greater(t, len(rows), 6)
	require.Greater(t, large, 60)
}

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

// A mirrored row is that of the mirrored board, but for the columns in the middle, of which
// blocks appear in one more on the left.
func TestMirroredDropblox(t *testing.T) {
	var r env.Rand
	r.Seed(9)
	x, y := make([]float32, len(Dropblox.Features)), make([]float32, len(Dropblox.Features))
	for seed := range uint64(50) {
		var s, m dropblox.State
		s.Reset(seed)
		Dropblox.Damage(&s, &r)
		for range 4 {
			s.Step(env.NoMoves)
		}
		m = s
		for j := range s.Taken {
			m.Taken[j] = s.Taken[dropblox.Cols-1-j]
		}
		Dropblox.Reader().Own(&s, 0, x)
		Dropblox.Reader().Own(&m, 0, y)
		Dropblox.Mirror(x)
		for k, name := range Dropblox.Features {
			if name != "middle" {
				require.InDelta(t, y[k], x[k], 1e-6, name)
			}
		}
	}
}
