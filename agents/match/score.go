package match

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Pairs counts what the pairs of a table came to for the first player, by half points won
// in two games: Pairs[0] both lost, Pairs[2] one all, Pairs[4] both won.
type Pairs [5]int

// N is how many pairs there are.
func (p Pairs) N() int {
	n := 0
	for _, c := range p {
		n += c
	}
	return n
}

// Score is the mean score of a game: wins and half the draws, from 0 to 1. It is ½ if
// nothing was played.
func (p Pairs) Score() float64 {
	n := p.N()
	if n == 0 {
		return 0.5
	}
	sum := 0
	for i, c := range p {
		sum += i * c
	}
	return float64(sum) / float64(4*n)
}

// variance is the sample variance of a pair's score.
func (p Pairs) variance() float64 {
	n, mean := p.N(), p.Score()
	if n < 2 {
		return 0
	}
	sum := 0.0
	for i, c := range p {
		d := float64(i)/4 - mean
		sum += float64(c) * d * d
	}
	return sum / float64(n-1)
}

// Interval is the 95 % interval of the score, within [0, 1]: mean ± t·s/√n from the
// spread of the pairs' scores, with Student's t for n-1 degrees of freedom. Where every
// pair was won, or every one lost, there is no spread to go by, and the interval ends
// where so one-sided an outcome of n trials still has a chance of 2.5 %. Fewer than two
// pairs tell nothing: [0, 1].
func (p Pairs) Interval() (low, high float64) {
	n := p.N()
	switch {
	case n < 2:
		return 0, 1
	case p[4] == n:
		return math.Pow(0.025, 1/float64(n)), 1
	case p[0] == n:
		return 0, 1 - math.Pow(0.025, 1/float64(n))
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	mean, half := p.Score(), t*math.Sqrt(p.variance()/float64(n))
	return math.Max(0, mean-half), math.Min(1, mean+half)
}

// Elo is the rating difference that an expected score stands for on the logistic scale,
// ±∞ at the ends.
func Elo(score float64) float64 {
	return 400 * math.Log10(score/(1-score))
}

// Expected is the score that a rating difference stands for: the inverse of Elo.
func Expected(elo float64) float64 {
	return 1 / (1 + math.Pow(10, -elo/400))
}

// EloWithin is Elo with the score kept half a game of n away from 0 and 1, so that it is
// a finite number: all that n games can tell.
func EloWithin(score float64, n int) float64 {
	edge := 0.5 / float64(max(n, 1))
	return Elo(min(max(score, edge), 1-edge))
}
