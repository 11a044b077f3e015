package match

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a number with its 95 % interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// A Life sums up the runs of one player.
type Life struct {
	Games   int      `json:"games"`
	Mean    Estimate `json:"mean"` // score of a game, stopped ones as they stood
	Median  float64  `json:"median"`
	Worst   int      `json:"worst"`
	Best    int      `json:"best"`
	Stopped int      `json:"stopped"` // games that were stopped, not ended
	Deaths  int      `json:"deaths"`  // games that ended
	Total   int      `json:"total"`   // score of all games together
	// PerDeath is Total over Deaths, as if a game could end at any point alike (a Poisson
	// process). Without a death Value is a lower bound at 95 % and High is 0, for none.
	PerDeath Estimate `json:"per_death"`
	Steps    int      `json:"steps"` // choices in all games together
}

// Life sums up runs; there is at least one.
func (r Runs) Life() Life {
	l := Life{Games: len(r), Worst: r[0].Score, Best: r[0].Score}
	scores := make([]float64, len(r))
	for i, s := range r {
		scores[i] = float64(s.Score)
		l.Total += s.Score
		l.Steps += s.Steps
		l.Worst, l.Best = min(l.Worst, s.Score), max(l.Best, s.Score)
		if s.Ended {
			l.Deaths++
		} else {
			l.Stopped++
		}
	}
	l.Mean, l.Median = meanOf(scores), median(scores)
	l.PerDeath = perDeath(l.Total, l.Deaths)
	return l
}

// perDeath is the mean time to an event of which there were deaths in a time of total, with
// the exact interval of a Poisson count.
func perDeath(total, deaths int) Estimate {
	chi := func(p float64, d int) float64 { return distuv.ChiSquared{K: float64(2 * d)}.Quantile(p) }
	t := float64(total)
	if deaths == 0 {
		low := t / -math.Log(0.05)
		return Estimate{Value: low, Low: low}
	}
	return Estimate{t / float64(deaths), 2 * t / chi(0.975, deaths+1), 2 * t / chi(0.025, deaths)}
}

// meanOf is the mean with the interval of Student's t; one number alone tells no interval.
func meanOf(x []float64) Estimate {
	n, sum, squares := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		sum += v
	}
	mean := sum / n
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	if n < 2 {
		return Estimate{mean, mean, mean}
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	half := t * math.Sqrt(squares/(n-1)/n)
	return Estimate{mean, mean - half, mean + half}
}

// A Contrast compares two players on the same seeds, from the view of the first.
type Contrast struct {
	Wins, Draws, Losses int      // by score, seed by seed
	Points              Estimate // wins and half the draws, as a fraction
	Difference          Estimate // of scores, paired by seed
}

// Against compares runs with another player's on the same seeds, as many.
func (r Runs) Against(other Runs) Contrast {
	var c Contrast
	diffs, points := make([]float64, len(r)), make([]float64, len(r))
	for i, s := range r {
		d := s.Score - other[i].Score
		diffs[i] = float64(d)
		switch {
		case d > 0:
			c.Wins++
			points[i] = 1
		case d < 0:
			c.Losses++
		default:
			c.Draws++
			points[i] = 0.5
		}
	}
	c.Difference, c.Points = meanOf(diffs), meanOf(points)
	n := float64(len(r))
	switch {
	case len(r) < 2:
		c.Points.Low, c.Points.High = 0, 1
	case c.Wins == len(r): // as in Pairs.Interval
		c.Points.Low = math.Pow(0.025, 1/n)
	case c.Losses == len(r):
		c.Points.High = 1 - math.Pow(0.025, 1/n)
	}
	c.Points.Low, c.Points.High = math.Max(0, c.Points.Low), math.Min(1, c.Points.High)
	return c
}

// median is the middle number, or the mean of the two in the middle; it sorts x.
func median(x []float64) float64 {
	sort.Float64s(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
