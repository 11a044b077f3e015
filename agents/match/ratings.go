package match

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// scale turns Elo into the exponent of the logistic function.
const scale = math.Ln10 / 400

// Counts are the results of games, or of meetings, from one side.
type Counts struct {
	Wins   int `json:"wins"`
	Draws  int `json:"draws"`
	Losses int `json:"losses"`
}

// Count adds a game that won 2, 1 or 0 half points.
func (c *Counts) Count(halves int) { *[...]*int{&c.Losses, &c.Draws, &c.Wins}[halves]++ }

// Total is the number of games.
func (c Counts) Total() int { return c.Wins + c.Draws + c.Losses }

// Points are the wins and half the draws.
func (c Counts) Points() float64 { return float64(c.Wins) + float64(c.Draws)/2 }

// Share is Points as a fraction of the games; 0 without a game.
func (c Counts) Share() float64 { return c.Points() / float64(max(c.Total(), 1)) }

// Results are the results of games between n players, numbered from 0.
type Results struct {
	n    int
	meet []Counts // of every two players, n x n, from the view of the first
}

// NewResults returns no results of n players.
func NewResults(n int) *Results { return &Results{n, make([]Counts, n*n)} }

// Add adds a game of player a against another one, b, in which a won 2, 1 or 0 half points.
func (r *Results) Add(a, b, half int) {
	r.meet[a*r.n+b].Count(half)
	r.meet[b*r.n+a].Count(2 - half)
}

// Meeting returns the results of a player against another one.
func (r *Results) Meeting(a, b int) Counts { return r.meet[a*r.n+b] }

// Of returns the results of a player against all others.
func (r *Results) Of(a int) (sum Counts) {
	for _, c := range r.meet[a*r.n : (a+1)*r.n] {
		sum = Counts{sum.Wins + c.Wins, sum.Draws + c.Draws, sum.Losses + c.Losses}
	}
	return sum
}

// Elo estimates the ratings that make the results most likely, relative to their mean, with 95 % intervals. Every two
// players count as if they had drawn once more, shared among all, so that a rating is finite also for who won
// everything. The intervals take games as independent; games in pairs with the seats swapped vary less.
func (r *Results) Elo() []Estimate {
	if r.n == 0 {
		return nil
	}
	games, score := mat.NewDense(r.n, r.n, nil), make([]float64, r.n)
	prior := 1 / float64(max(r.n-1, 1))
	for i := range r.n {
		score[i] = r.Of(i).Points()
		for j := range r.n {
			if i != j {
				games.Set(i, j, float64(r.Meeting(i, j).Total())+prior)
				score[i] += prior / 2
			}
		}
	}
	elo := make([]float64, r.n)
	for range 500 {
		if improve(elo, games, score) < 1e-6 {
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

// improve takes a Newton step for every player in turn, moves the mean to 0 and returns the largest step.
func improve(elo []float64, games *mat.Dense, score []float64) float64 {
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
		mean += v / float64(len(elo))
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
