package match

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a number with its 95 % confidence interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// meanWithin estimates a mean that lies from low to high. Weights say how often each sample occurs; nil means once.
// The interval, by Student's t, is cut off at these bounds, and is all between them for fewer than two samples.
//
// If all n samples are equal, their variance is 0 and says nothing. Other values then have a probability of at most
// q = 1 - 0.025^(1/n), since otherwise n equal samples in a row would have one below 2.5 %. The interval allows for
// that probability at one bound or the other.
func meanWithin(samples, weights []float64, low, high float64) Estimate {
	e := Estimate{stat.Mean(samples, weights), low, high}
	n := float64(len(samples))
	if weights != nil {
		n = floats.Sum(weights)
	}
	switch q := 1 - math.Pow(0.025, 1/n); {
	case n < 2:
	case !equal(samples, weights):
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
		half := t * math.Sqrt(stat.Variance(samples, weights)/n)
		e.Low, e.High = max(low, e.Value-half), min(high, e.Value+half)
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		e.Low, e.High = e.Value, e.Value
	default:
		e.Low, e.High = e.Value-q*(e.Value-low), e.Value+q*(high-e.Value)
	}
	return e
}

func equal(samples, weights []float64) bool {
	first := math.NaN()
	for i, v := range samples {
		switch {
		case weights != nil && weights[i] == 0:
		case math.IsNaN(first):
			first = v
		case v != first:
			return false
		}
	}
	return true
}

// MeanOf estimates a mean without bounds. A single sample is its own interval, and no sample has a mean of 0.
func MeanOf(samples []float64) Estimate {
	switch len(samples) {
	case 0:
		return Estimate{}
	case 1:
		return Estimate{samples[0], samples[0], samples[0]}
	}
	return meanWithin(samples, nil, math.Inf(-1), math.Inf(1))
}

// perEvent estimates the mean distance between events, given their number in total, with the exact interval of a
// Poisson count. Without an event, Value is a lower bound at 95 % and High is 0, which means none.
func perEvent(total, events int) Estimate {
	quantile := func(p float64, n int) float64 { return distuv.ChiSquared{K: float64(2 * n)}.Quantile(p) }
	t := float64(total)
	if events == 0 {
		low := t / -math.Log(0.05)
		return Estimate{Value: low, Low: low}
	}
	return Estimate{t / float64(events), 2 * t / quantile(0.975, events+1), 2 * t / quantile(0.025, events)}
}

// An SPRT is a sequential probability ratio test between two rating differences: it stops a match as soon as one of
// them is much more likely than the other.
type SPRT struct {
	Elo0, Elo1  float64 // the hypotheses, Elo0 < Elo1, logistic Elo
	Alpha, Beta float64 // probabilities to accept H1 under H0, and H0 under H1
}

// A Verdict is the state of an SPRT. It is empty if there is no test.
type Verdict string

// The verdicts.
const (
	Undecided Verdict = "undecided"
	AcceptH0  Verdict = "H0" // the first player is not Elo1 stronger
	AcceptH1  Verdict = "H1" // the first player is more than Elo0 stronger
)

// Check returns an error if the test makes no sense.
func (t SPRT) Check() error {
	switch {
	case !(t.Elo0 < t.Elo1) || math.IsInf(t.Elo0, 0) || math.IsInf(t.Elo1, 0):
		return fmt.Errorf("sprt: Elo %v and %v: want the first below the second", t.Elo0, t.Elo1)
	case !(t.Alpha > 0 && t.Alpha < 0.5) || !(t.Beta > 0 && t.Beta < 0.5):
		return fmt.Errorf("sprt: alpha %v and beta %v: want both between 0 and 0.5", t.Alpha, t.Beta)
	}
	return nil
}

// Bounds are the log likelihood ratios at which H0 and H1 are accepted (Wald).
func (t SPRT) Bounds() (lower, upper float64) {
	return math.Log(t.Beta / (1 - t.Alpha)), math.Log((1 - t.Beta) / t.Alpha)
}

// Verdict returns the decision after these pairs: AcceptH0, AcceptH1, or Undecided as long as the log-likelihood ratio
// lies between the Bounds.
func (t SPRT) Verdict(p Pairs) Verdict {
	lower, upper := t.Bounds()
	switch llr := t.LLR(p); {
	case llr <= lower:
		return AcceptH0
	case llr >= upper:
		return AcceptH1
	}
	return Undecided
}

// LLR is the generalised log likelihood ratio of H1 to H0. Each hypothesis stands for the most likely distribution of
// pair scores among those whose mean is the expected score of its rating difference. Outcomes that never occurred
// count as a thousandth of a pair, so that no outcome is impossible.
func (t SPRT) LLR(p Pairs) float64 {
	if p.N() == 0 {
		return 0
	}
	var w [5]float64
	total := 0.0
	for i, c := range p {
		w[i] = math.Max(float64(c), 1e-3)
		total += w[i]
	}
	for i := range w {
		w[i] /= total
	}
	q0, q1 := constrained(w, Expected(t.Elo0)), constrained(w, Expected(t.Elo1))
	llr := 0.0
	for i := range w {
		llr += w[i] * math.Log(q1[i]/q0[i])
	}
	return total * llr
}

// constrained is the distribution over the five pair scores that has the given mean, in (0, 1), and makes counts in
// the proportions w most likely. With a Lagrange multiplier θ it is w[i]/(1+θ·(i/4-mean)); θ is the root of Σ
// w[i]·(i/4-mean)/(1+θ·(i/4-mean)), which falls from +∞ to -∞ between the two poles around 0, so that bisection finds
// it.
func constrained(w [5]float64, mean float64) [5]float64 {
	low, high := -1/(1-mean), 1/mean
	for range 200 {
		theta := (low + high) / 2
		sum := 0.0
		for i := range w {
			d := float64(i)/4 - mean
			sum += w[i] * d / (1 + theta*d)
		}
		if sum > 0 {
			low = theta
		} else {
			high = theta
		}
	}
	theta := (low + high) / 2
	for i := range w {
		w[i] /= 1 + theta*(float64(i)/4-mean)
	}
	return w
}

// Pairs counts pairs of games by the half points that the first player won in both games together: Pairs[0] lost
// both, Pairs[2] drew on balance, Pairs[4] won both.
type Pairs [5]int

// N returns the number of pairs of games, whatever their result.
func (p Pairs) N() int { return p[0] + p[1] + p[2] + p[3] + p[4] }

// Score is the mean score per game, from 0 to 1: wins and half the draws. It is ½ if there is no pair.
func (p Pairs) Score() float64 {
	if p.N() == 0 {
		return 0.5
	}
	return float64(p[1]+2*p[2]+3*p[3]+4*p[4]) / float64(4*p.N())
}

// Interval is the 95 % confidence interval of the score, within [0, 1]: mean ± t·s/√n, where s is the standard
// deviation of the pairs' scores and t the quantile of Student's t with n-1 degrees of freedom. If all pairs have the
// same score, s is 0 and says nothing: the interval then holds the scores for which n such pairs in a row still have
// a probability of 2.5 % or more. Fewer than two pairs say nothing: [0, 1].
func (p Pairs) Interval() (low, high float64) {
	e := meanWithin(scores, p.weights(), 0, 1)
	return e.Low, e.High
}

var scores = []float64{0, 0.25, 0.5, 0.75, 1} // per game of a pair, one for each count

func (p Pairs) weights() (weights []float64) {
	for _, c := range p {
		weights = append(weights, float64(c))
	}
	return weights
}

// Normalised is normalised Elo: by how many standard deviations of a game's score it is above ½, times 800/ln 10. The
// deviation is √2 times that of the scores of pairs. For nearly equal players it is Elo if the games of a pair are
// independent and none is drawn; if most pairs are split, it is more, because fewer pairs then show the same lead. It
// is nil if all pairs have the same score.
func (p Pairs) Normalised() *Estimate {
	weights := p.weights()
	if p.N() < 2 || equal(scores, weights) {
		return nil
	}
	unit := math.Sqrt(2*stat.PopVariance(scores, weights)) * scale / 2
	low, high := p.Interval()
	return &Estimate{(p.Score() - 0.5) / unit, (low - 0.5) / unit, (high - 0.5) / unit}
}

// Elo is the rating difference that belongs to an expected score on the logistic scale, ±∞ at the ends.
func Elo(score float64) float64 {
	return 400 * math.Log10(score/(1-score))
}

// Expected is the expected score that belongs to a rating difference: the inverse of Elo.
func Expected(elo float64) float64 {
	return 1 / (1 + math.Pow(10, -elo/400))
}

// Information is that of a game about a rating difference (Fisher): the inverse of the variance of its estimate.
func Information(elo float64) float64 {
	e := Expected(elo)
	return e * (1 - e) * scale * scale
}

// EloWithin is Elo with the score kept half a game of n away from 0 and 1: n games cannot show a larger difference.
func EloWithin(score float64, n int) float64 {
	edge := 0.5 / float64(max(n, 1))
	return Elo(min(max(score, edge), 1-edge))
}
