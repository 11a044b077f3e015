package dropblox

import "math"

// Draw returns the type that two uniform numbers select at a score (rules §6.2).
func Draw(p, u float64, score int) int {
	return int(u * float64(limits[levelAt(p, score)]))
}

// Level bounds (rules §1).
const ratioLow, ratioHigh, ratioStep, levelStep = 0.1, 0.9, 480, 60

// sigma is a curve of the rules from 0 to 1. Every product and sum is rounded separately, so that
// all machines agree.
func sigma(x float64) float64 {
	return (x/math.Sqrt(float64(x*x)+1) + 1) / 2
}

// ratio returns the r of the rules at a score.
func ratio(score int) float64 {
	return float64((ratioHigh-ratioLow)*sigma(float64(2*(score-ratioStep))/ratioStep)) + ratioLow
}

func levelAt(p float64, score int) int {
	r, power := ratio(score), 1.0
	for k := 1; k <= 5; k++ {
		power *= r
		if p > power*sigma(float64(2*(score-levelStep*k))/levelStep) {
			return k - 1
		}
	}
	return 5
}

// Chances returns the probability of each level at a score. Level k draws uniformly from all blocks
// of up to k+5 squares.
func Chances(score int) (out [6]float64) {
	r, power, above := ratio(score), 1.0, 1.0
	for k := 1; k <= 5; k++ {
		power *= r
		// A level is reached only if all lower levels are passed.
		next := math.Min(above, power*sigma(float64(2*(score-levelStep*k))/levelStep))
		out[k-1], above = above-next, next
	}
	out[5] = above
	return out
}

// MeanSize returns the mean number of squares of a block drawn at a score.
func MeanSize(score int) float64 {
	mean := 0.0
	for k, p := range Chances(score) {
		mean += p * levelMean[k]
	}
	return mean
}

// levelMean holds the mean size of the blocks of each level.
var levelMean = func() (out [6]float64) {
	sum, t := 0, 0
	for k, limit := range limits {
		for ; t < limit; t++ {
			sum += SizeOf(t)
		}
		out[k] = float64(sum) / float64(limit)
	}
	return out
}()
