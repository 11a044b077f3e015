package single

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// BenchmarkStep is a rollout of 64 games of 64 choices, and the fit to it.
func BenchmarkStep(b *testing.B) {
	c := Default(games.WinTetris)
	r, err := selfplay.New(games.WinTetris, &c, nil, 1)
	require.NoError(b, err)
	defer func() { require.NoError(b, r.Close()) }()
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, r.Step())
	}
	b.ReportMetric(float64(r.Counts.Moves)/b.Elapsed().Seconds(), "choices/s")
}
