package phases

import (
	"math"
	"testing"

	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// BenchmarkStep is self-play with learning: games and choices per second.
func BenchmarkStep(b *testing.B) {
	for name, share := range map[string]float64{"results": 0, "siblings": 1 - 1e-6} {
		b.Run(name, func(b *testing.B) {
			c := Default(games.BlockBattle)
			c.Results, c.Backup, c.Gates = 1e-6*math.Ceil(share), share, 1
			r, err := selfplay.New(games.BlockBattle, &c, nil, 1)
			require.NoError(b, err)
			defer func() { require.NoError(b, r.Close()) }()
			for b.Loop() {
				require.NoError(b, r.Step())
			}
			s := b.Elapsed().Seconds()
			b.ReportMetric(float64(r.Counts.Moves)/s, "choices/s")
			b.ReportMetric(float64(r.Counts.Visited)/s, "afterstates/s")
			b.ReportMetric(float64(r.Counts.Games)/s, "games/s")
		})
	}
}
