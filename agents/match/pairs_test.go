package match

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

func TestScoreAndIntervalByHand(t *testing.T) {
	for _, c := range []struct {
		pairs            Pairs
		score, low, high float64
	}{
		// Scores 0 ½ ½ 1 1 1: mean 2/3, variance (4/9+2/36+3/9)/5 = 1/6, error of the
		// mean 1/6, t of 5 degrees 2.570582.
		{Pairs{1, 0, 2, 0, 3}, 2. / 3, 2./3 - 2.570582/6, 1},
		// Scores ¼ ¾: mean ½, variance 1/8, error ¼, t of 1 degree 12.706.
		{Pairs{0, 1, 0, 1, 0}, 0.5, 0, 1},
		// 50 times ¼, 50 times ½: mean 3/8, variance 100/64/99, t of 99 degrees 1.984217.
		{Pairs{0, 50, 50, 0, 0}, 0.375, 0.375 - 1.984217/8/math.Sqrt(99), 0.375 + 1.984217/8/math.Sqrt(99)},
		{Pairs{0, 0, 7, 0, 0}, 0.5, 0.5 * math.Pow(0.025, 1./7), 1 - 0.5*math.Pow(0.025, 1./7)},
		{Pairs{0, 0, 2, 0, 0}, 0.5, 0.5 * math.Sqrt(0.025), 1 - 0.5*math.Sqrt(0.025)},
		{Pairs{0, 0, 0, 0, 10}, 1, math.Pow(0.025, 0.1), 1},
		{Pairs{10, 0, 0, 0, 0}, 0, 0, 1 - math.Pow(0.025, 0.1)},
		{Pairs{0, 0, 0, 1, 0}, 0.75, 0, 1},
		{Pairs{}, 0.5, 0, 1},
	} {
		low, high := c.pairs.Interval()
		require.InDeltaSlice(t, []float64{c.score, c.low, c.high}, []float64{c.pairs.Score(), low, high}, 1e-6, "%v", c.pairs)
	}
}

// outcomes draws pairs from a distribution.
func outcomes(r *rand.Rand, dist [5]float64) int {
	u := r.Float64()
	for i, p := range dist {
		if u -= p; u < 0 {
			return i
		}
	}
	return 4
}

// shifted is a distribution of pair scores with the mean of a rating difference: the two
// games of a pair go the same way with a chance of same, else each by itself.
func shifted(elo, same float64) [5]float64 {
	p := Expected(elo)
	return [5]float64{
		(1-p)*same + (1-same)*(1-p)*(1-p), 0, (1 - same) * 2 * p * (1 - p), 0, p*same + (1-same)*p*p,
	}
}

func TestIntervalHoldsTheTruth(t *testing.T) {
	const seed, runs = 1, 2000
	r := rand.New(rand.NewPCG(seed, seed))
	for _, elo := range []float64{0, 100, 250} {
		held := 0
		for range runs {
			var p Pairs
			for range 200 {
				p[outcomes(r, shifted(elo, 0.6))]++
			}
			if low, high := p.Interval(); low <= Expected(elo) && Expected(elo) <= high {
				held++
			}
		}
		require.InDelta(t, 0.95, float64(held)/runs, 0.02, "Elo %v", elo)
	}
}

func TestElo(t *testing.T) {
	require.Zero(t, Elo(0.5))
	require.InDelta(t, 190.848502, Elo(0.75), 1e-6)
	require.InDelta(t, -190.848502, Elo(0.25), 1e-6)
	require.InDelta(t, 0.75, Expected(190.848502), 1e-9)
	require.True(t, math.IsInf(Elo(1), 1))
	require.InDelta(t, Elo(0.995), EloWithin(1, 100), 1e-9)
	require.InDelta(t, Elo(0.005), EloWithin(0, 100), 1e-9)
	require.Zero(t, EloWithin(0.5, 0))
}

func TestLLRByHand(t *testing.T) {
	test := SPRT{Elo0: 0, Elo1: 50, Alpha: 0.05, Beta: 0.05}
	s1 := Expected(50)
	// Two outcomes only: the mean says all about the distribution.
	want := 60*math.Log(s1/0.5) + 40*math.Log((1-s1)/0.5)
	require.InDelta(t, want, test.LLR(Pairs{40, 0, 0, 0, 60}), 0.02)
	// Many pairs, little difference: the normal approximation N(s1-s0)(2x-s0-s1)/2σ².
	small := SPRT{Elo0: 0, Elo1: 5, Alpha: 0.05, Beta: 0.05}
	p := Pairs{900, 1900, 4000, 2000, 1000}
	d := Expected(5) - 0.5
	variance := stat.Variance([]float64{0, 0.25, 0.5, 0.75, 1}, []float64{900, 1900, 4000, 2000, 1000})
	want = float64(p.N()) * d * (2*p.Score() - 1 - d) / (2 * variance)
	require.InDelta(t, want, small.LLR(p), 0.01*math.Abs(want))
	require.Zero(t, test.LLR(Pairs{}))
	// The view of the other player, hypotheses turned round, is the same evidence.
	turned := SPRT{Elo0: -50, Elo1: 0, Alpha: 0.05, Beta: 0.05}
	require.InDelta(t, test.LLR(Pairs{3, 9, 20, 11, 8}), -turned.LLR(Pairs{8, 11, 20, 9, 3}), 1e-9)
	lower, upper := test.Bounds()
	require.InDelta(t, -2.944439, lower, 1e-6)
	require.InDelta(t, 2.944439, upper, 1e-6)
}

func TestSPRTStopsRight(t *testing.T) {
	const seed, runs = 2, 100
	r := rand.New(rand.NewPCG(seed, seed))
	test := SPRT{Elo0: 0, Elo1: 60, Alpha: 0.05, Beta: 0.05}
	for _, c := range []struct {
		elo   float64
		want  Verdict
		least float64 // share of the runs that end so
		most  float64 // mean number of pairs
	}{
		{0, AcceptH0, 0.91, 300}, {60, AcceptH1, 0.91, 300},
		{-200, AcceptH0, 0.99, 50}, {260, AcceptH1, 0.99, 50},
	} {
		right, pairs := 0, 0
		for range runs {
			var p Pairs
			for test.Verdict(p) == Undecided {
				p[outcomes(r, shifted(c.elo, 0.3))]++
				pairs++
			}
			if test.Verdict(p) == c.want {
				right++
			}
		}
		require.GreaterOrEqual(t, float64(right)/runs, c.least, "Elo %v", c.elo)
		require.Less(t, float64(pairs)/runs, c.most, "Elo %v", c.elo)
	}
}

func TestSPRTIsChecked(t *testing.T) {
	for _, bad := range []SPRT{
		{0, 0, 0.05, 0.05},
		{10, 0, 0.05, 0.05},
		{math.NaN(), 5, 0.05, 0.05},
		{0, math.Inf(1), 0.05, 0.05},
		{0, 5, 0, 0.05},
		{0, 5, 0.05, 0.5},
	} {
		require.Error(t, bad.Check(), "%+v", bad)
	}
	require.NoError(t, SPRT{0, 30, 0.05, 0.05}.Check())
}
