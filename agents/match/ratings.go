package match

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// scale turns Elo into the exponent of the logistic function.
const scale = math.Ln10 / 400

// Results are the results of games between n players, numbered from 0.
type Results struct {
	n     int
	games *mat.Dense // of every two players, n x n, symmetric; nil if n is 0
	score []float64  // points of every player: wins and half the draws
}

// NewResults returns no results of n players.
func NewResults(n int) *Results {
	r := &Results{n: n, score: make([]float64, n)}
	if n > 0 {
		r.games = mat.NewDense(n, n, nil)
	}
	return r
}

// Add adds a game of player a against another one, b, in which a won 2, 1 or 0 half points.
func (r *Results) Add(a, b, half int) {
	r.games.Set(a, b, r.games.At(a, b)+1)
	r.games.Set(b, a, r.games.At(b, a)+1)
	r.score[a] += float64(half) / 2
	r.score[b] += float64(2-half) / 2
}

// Elo estimates the ratings that make the results most likely, relative to their mean, with 95 % intervals. Every two
// players count as if they had drawn once more, shared among all, so that a rating is finite also for who won
// everything. The intervals take games as independent; games in pairs with the seats swapped vary less.
func (r *Results) Elo() []Estimate {
	if r.n == 0 {
		return nil
	}
	games, score := r.withPrior()
	elo := make([]float64, r.n)
	for range 500 {
		if r.improve(elo, games, score) < 1e-6 {
			break
		}
	}
	for i, v := range elo {
		elo[i] = math.Round(1e3*v)/1e3 + 0 // what the last steps left over decides no tie; + 0 makes -0 a 0
	}
	out := make([]Estimate, r.n)
	for i, half := range halfWidths(elo, games) {
		out[i] = Estimate{Value: elo[i], Low: elo[i] - half, High: elo[i] + half}
	}
	return out
}

// withPrior returns the results with the draws that are added to them.
func (r *Results) withPrior() (*mat.Dense, []float64) {
	games, score := mat.DenseCopyOf(r.games), append([]float64(nil), r.score...)
	prior := 1 / float64(max(r.n-1, 1))
	for i := range r.n {
		for j := range r.n {
			if i != j {
				games.Set(i, j, games.At(i, j)+prior)
				score[i] += prior / 2
			}
		}
	}
	return games, score
}

// improve takes a Newton step for every player in turn, moves the mean to 0 and returns the largest step.
func (r *Results) improve(elo []float64, games *mat.Dense, score []float64) float64 {
	change := 0.0
	for i := range elo {
		gap, slope := score[i], 0.0
		for j := range elo {
			if i != j {
				e := Expected(elo[i] - elo[j])
				gap -= games.At(i, j) * e
				slope += games.At(i, j) * e * (1 - e) * scale
			}
		}
		if slope > 0 {
			step := max(-200, min(200, gap/slope))
			elo[i] += step
			change = max(change, math.Abs(step))
		}
	}
	mean := 0.0
	for _, v := range elo {
		mean += v / float64(r.n)
	}
	for i := range elo {
		elo[i] -= mean
	}
	return change
}

// halfWidths returns half the widths of the ratings' 95 % intervals, from the curvature of the likelihood. Ratings are
// only determined up to a constant: adding the same number to every entry of the matrix fixes their mean.
func halfWidths(elo []float64, games *mat.Dense) []float64 {
	n := len(elo)
	h := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i == j {
				continue
			}
			e := Expected(elo[i] - elo[j])
			w := games.At(i, j) * e * (1 - e) * scale * scale
			h.Set(i, i, h.At(i, i)+w)
			h.Set(i, j, h.At(i, j)-w)
		}
	}
	unit := mat.Trace(h) / float64(n*n)
	for i := range n {
		for j := range n {
			h.Set(i, j, h.At(i, j)+unit)
		}
	}
	half := make([]float64, n)
	var inverse mat.Dense
	if inverse.Inverse(h) != nil {
		return half // of no games
	}
	for i := range half {
		variance := inverse.At(i, i) - 1/(unit*float64(n*n))
		half[i] = 1.96 * math.Sqrt(max(variance, 0))
	}
	return half
}
