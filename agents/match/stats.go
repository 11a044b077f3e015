package match

import (
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

// halfWidth is half the width of the interval of Student's t for the mean of the samples, of which there are at least
// two. Weights say how often each sample occurs; nil means once.
func halfWidth(samples, weights []float64) float64 {
	n := count(samples, weights)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	return t * math.Sqrt(stat.Variance(samples, weights)/n)
}

// count is the number of samples.
func count(samples, weights []float64) float64 {
	if weights == nil {
		return float64(len(samples))
	}
	return floats.Sum(weights)
}

// meanWithin estimates a mean that is known to lie from low to high. The interval is cut off at these bounds, which
// are the whole interval if there are fewer than two samples.
func meanWithin(samples, weights []float64, low, high float64) Estimate {
	e := Estimate{stat.Mean(samples, weights), low, high}
	if count(samples, weights) >= 2 {
		half := halfWidth(samples, weights)
		e.Low, e.High = max(low, e.Value-half), min(high, e.Value+half)
	}
	return e
}

// meanOf estimates a mean without bounds. A single sample is its own interval.
func meanOf(samples []float64) Estimate {
	if len(samples) == 1 {
		return Estimate{samples[0], samples[0], samples[0]}
	}
	return meanWithin(samples, nil, math.Inf(-1), math.Inf(1))
}

// shareOf estimates the mean of scores from 0 to 1. If all scores are 0, or all are 1, the variance is 0 and says
// nothing: then the interval ends at the share for which n such scores in a row still have a probability of 2.5 %.
func shareOf(scores, weights []float64) Estimate {
	e := meanWithin(scores, weights, 0, 1)
	switch n := count(scores, weights); {
	case n < 2:
	case e.Value == 1:
		e.Low = math.Pow(0.025, 1/n)
	case e.Value == 0:
		e.High = 1 - math.Pow(0.025, 1/n)
	}
	return e
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
