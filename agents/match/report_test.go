package match

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"blockyard/env/blocking"
)

// The intervals hold the ratings that results were drawn from, more or less 95 % of them.
func TestRatings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	truth := []float64{150, 60, 0, -60, -150}
	inside, all := 0, 0
	for range 40 {
		r := NewResults(len(truth))
		for range 60 {
			for a := range truth {
				for b := range a {
					half := 0
					if rng.Float64() < Expected(truth[a]-truth[b]) {
						half = 2
					}
					r.Add(a, b, half)
				}
			}
		}
		for k, elo := range r.Elo() {
			all++
			if elo.Low <= truth[k] && truth[k] <= elo.High {
				inside++
			}
		}
	}
	require.InDelta(t, 0.95, float64(inside)/float64(all), 0.04)
}

// Ratings are finite without games, for one player, and for who won everything.
func TestRatingsOfLittle(t *testing.T) {
	require.Empty(t, NewResults(0).Elo())
	require.Equal(t, []Estimate{{}}, NewResults(1).Elo())
	for _, e := range NewResults(3).Elo() {
		require.Zero(t, e.Value)
	}
	r := NewResults(2)
	for range 50 {
		r.Add(1, 0, 2)
	}
	elo := r.Elo()
	require.Greater(t, elo[1].Low, elo[0].High)
	require.Less(t, elo[1].High, 2000.0)
}

// Where finite ratings make the results most likely, they are those: each player's points are those that its ratings
// expect. Two players have the difference of their score, however few their games are.
func TestRatingsAreTheMostLikely(t *testing.T) {
	for _, c := range [][3]int{{1, 0, 1}, {3, 0, 1}, {15, 2, 3}, {0, 1, 5}, {19, 0, 1}} {
		r := NewResults(2)
		for half, n := range []int{c[2], c[1], c[0]} {
			for range n {
				r.Add(0, 1, half)
			}
		}
		elo := r.Elo()
		require.InDelta(t, Elo(r.Of(0).Share()), elo[0].Value-elo[1].Value, 0.01, "%v", c)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	r := NewResults(4)
	for k := range 40 {
		r.Add(k%4, (k%4+1+rng.IntN(3))%4, rng.IntN(3))
	}
	elo := r.Elo()
	for a := range elo {
		want := 0.
		for b := range elo {
			want += float64(r.Meeting(a, b).Total()) * Expected(elo[a].Value-elo[b].Value)
		}
		require.InDelta(t, want, r.Of(a).Points(), 1e-3)
	}
}

// TestWhoHasNotPlayedStandsApart: behind all others, without a place and without results.
func TestWhoHasNotPlayedStandsApart(t *testing.T) {
	r := ReportOf(blocking.Game, "1", []string{"new", "loser", "winner"}, []Played{{Seats: []int{1, 2}, Ranks: []int{2, 1}, Points: []int{3, 9}}})
	r.Played = nil
	slices.SortFunc(r.Players, Better)
	require.Equal(t, "new", r.Players[2].Name)
	require.Regexp(t, `(?m)^ +1 +winner +1 +1 +0 +0 +100\.0 %`, r.String())
	require.Regexp(t, `(?m)^ +new +0 *$`, r.String())
}

// The row of a program that never answers shows its time-outs.
func TestTableCountsWithoutAnswers(t *testing.T) {
	cells := map[string]string{}
	for _, c := range new(Report).cells(1, &Standing{Program: &Answers{Timeouts: 2, Ended: 1, UsedMS: 1500}}) {
		cells[c[0]] = c[1]
	}
	require.Equal(t, []string{"0", "2", "0", "1", "", ""}, []string{cells["answers"], cells["time-outs"], cells["remarks"],
		cells["ended"], cells["ms per answer"], cells["ms per game"]})
}

// The table of a contest fits a terminal of 100 columns: what has no room follows below, with the players again.
func TestTableFitsTheTerminal(t *testing.T) {
	r := &Report{Played: []Played{}, Players: []Standing{
		{Name: "A", Points: new(Points), Program: &Answers{Answers: 25, Times: new(Times)},
			Faults: map[string]int{"overflow": 1}},
		{Name: "B", Points: new(Points), Program: &Answers{Answers: 25, Times: new(Times)}},
	}}
	text := r.table()
	require.Contains(t, text, "longest ms")
	require.Equal(t, 2, strings.Count(text, "player"))
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), widest+1, line)
	}
}

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

func TestNormalisedByHand(t *testing.T) {
	// Scores 0 ½ ½ 1 1 1: mean 2/3, mean square of the deviations 5/36, of a game's score twice that.
	e := Pairs{1, 0, 2, 0, 3}.Normalised()
	unit := 800 / math.Ln10 / math.Sqrt(10./36)
	require.InDeltaSlice(t, []float64{unit / 6, unit * (1./6 - 2.570582/6), unit / 2}, []float64{e.Value, e.Low, e.High}, 1e-3)
	for _, p := range []Pairs{{}, {0, 0, 0, 1, 0}, {0, 0, 7, 0, 0}, {0, 0, 0, 0, 10}} {
		require.Nil(t, p.Normalised(), "%v", p)
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
