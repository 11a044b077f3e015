package tuning

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// poor is a tuning that starts from weights which avoid neither holes nor heights.
func poor(generations int) *Tuning {
	b := bots.Of(wintetris.Game).Baseline
	from := append([]float32(nil), b.Weights...)
	from[0], from[4], from[5] = from[0]/20, from[4]/20, from[5]/20
	return &Tuning{Base: b, From: from, Generations: generations,
		Match: match.Match{Rules: wintetris.Game, Seed: 3, Workers: 2, Units: 6, Cap: 100}}
}

// What is found is much better than the start, on seeds that it was not tuned on.
func TestTuningImproves(t *testing.T) {
	tuning := poor(12)
	var all []Generation
	require.NoError(t, tuning.Run(context.Background(), func(g Generation) error {
		all = append(all, g)
		return nil
	}))
	require.Len(t, all, 12)
	last := all[11]
	require.Equal(t, 12, last.Number)
	require.Equal(t, 12*tuning.Candidates()*6, last.Games)
	require.True(t, last.Worst <= last.Mean && last.Mean <= last.Top)
	tuning.Match.Units = 50
	found := envtest.Must(tuning.score(context.Background(), last.Weights, 99))
	start := envtest.Must(tuning.score(context.Background(), tuning.From, 99))
	require.Greater(t, found, 1.5*start)
	require.Contains(t, tuning.Draw(all), "wintetris: candidates of each generation")
}

// Ctrl-C ends a tuning without an error, and every complete generation was handed over; so does an error of the callback.
func TestTuningStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	require.NoError(t, poor(50).Run(ctx, func(Generation) error {
		if n++; n == 2 {
			cancel()
		}
		return nil
	}))
	require.Equal(t, 2, n)
	full := errors.New("disk full")
	require.ErrorIs(t, poor(50).Run(context.Background(), func(Generation) error { n++; return full }), full)
	require.Equal(t, 3, n)
}

// The centre is the mean of the better half; weights move in proportion to their size, and stay within what files allow.
func TestCentreAndWeights(t *testing.T) {
	require.Equal(t, []float64{2, 30}, centre([][]float64{{1, 20}, {9, 9}, {3, 40}}, []float64{5, 1, 5}))
	tuning := &Tuning{From: []float32{-100, 0, 900}}
	require.Equal(t, tuning.From, tuning.weights([]float64{0, 0, 0}))
	size := float32((100 + 900) / 3. / 20)
	require.InDeltaSlice(t, []float32{-50, size, 1000}, tuning.weights([]float64{.5, 1, 7}), 1e-4)
}
