package match

import "math"

// Pairs counts pairs of games by the half points that the first player won in both games together: Pairs[0] lost
// both, Pairs[2] drew on balance, Pairs[4] won both.
type Pairs [5]int

// N is the number of pairs.
func (p Pairs) N() int {
	n := 0
	for _, c := range p {
		n += c
	}
	return n
}

// Score is the mean score per game, from 0 to 1: wins and half the draws. It is ½ if there is no pair.
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

// Interval is the 95 % confidence interval of the score, within [0, 1]: mean ± t·s/√n, where s is the standard
// deviation of the pairs' scores and t the quantile of Student's t with n-1 degrees of freedom. If every pair was
// won, or every one lost, s is 0 and says nothing: the interval then ends at the score for which n such pairs in a
// row still have a probability of 2.5 %. Fewer than two pairs say nothing: [0, 1].
func (p Pairs) Interval() (low, high float64) {
	weights := make([]float64, len(p))
	for i, c := range p {
		weights[i] = float64(c)
	}
	e := shareOf([]float64{0, 0.25, 0.5, 0.75, 1}, weights)
	return e.Low, e.High
}

// Elo is the rating difference that belongs to an expected score on the logistic scale, ±∞ at the ends.
func Elo(score float64) float64 {
	return 400 * math.Log10(score/(1-score))
}

// Expected is the expected score that belongs to a rating difference: the inverse of Elo.
func Expected(elo float64) float64 {
	return 1 / (1 + math.Pow(10, -elo/400))
}

// EloWithin is Elo with the score kept half a game of n away from 0 and 1, so that it is finite: n games cannot show
// a larger difference.
func EloWithin(score float64, n int) float64 {
	edge := 0.5 / float64(max(n, 1))
	return Elo(min(max(score, edge), 1-edge))
}
