// Package tuning finds weights for the hand-tuned evaluator of a game by playing games: an evolution strategy (CMA-ES,
// by gonum) draws a generation of candidates around a centre, each plays games, and the centre and the spread of the
// next generation follow from the better ones.
package tuning

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/match"
	"blockyard/datasets/program/chart"
	"blockyard/env"
)

// A Tuning says what is tuned, and by which games. With several seats, candidates play pairs against From.
type Tuning struct {
	Match       match.Match // of each candidate: rules, seed, workers, units and limits; it has no players
	Base        *entry.Baseline
	From        []float32 // the first centre
	With        string    // search options of all agents, such as "ply=1"; may be empty
	Generations int
}

// A Generation is the scores of its candidates, which played the same games, and the weights after it.
type Generation struct {
	Number           int // from 1
	Games            int // played so far
	Mean, Worst, Top float64
	Weights          []float32 // the centre of its better half
}

// spread is the standard deviation of the first candidates, as a fraction of each weight.
const spread = 0.3

// Candidates is how many a generation has: more for more weights, the usual number of CMA-ES.
func (t *Tuning) Candidates() int { return 4 + int(3*math.Log(float64(len(t.From)))) }

// Run plays all generations, or until ctx ends, which is no error, and calls each after every generation. The same
// Tuning finds the same weights, for any number of workers.
func (t *Tuning) Run(ctx context.Context, each func(Generation) error) error {
	var xs [][]float64
	var scores []float64
	number := 0
	var failed error
	play := func(x []float64) float64 {
		score, err := t.score(ctx, t.weights(x), env.Derive(t.Match.Seed, uint64(number)))
		if failed = err; err != nil || ctx.Err() != nil {
			return math.NaN()
		}
		xs, scores = append(xs, slices.Clone(x)), append(scores, score)
		if len(xs) == t.Candidates() {
			number++
			g := Generation{Number: number, Games: number * len(xs) * t.games(), Mean: stat.Mean(scores, nil),
				Worst: slices.Min(scores), Top: slices.Max(scores), Weights: t.weights(centre(xs, scores))}
			xs, scores = nil, nil
			failed = each(g)
		}
		return -score
	}
	problem := optimize.Problem{Func: play, Status: func() (optimize.Status, error) {
		if err := errors.Join(failed, ctx.Err()); err != nil {
			return optimize.Failure, err
		}
		return optimize.NotTerminated, nil
	}}
	// gonum draws candidates by this covariance alone: its step size only scales how fast the covariance changes.
	covariance := mat.NewDiagDense(len(t.From), nil)
	for i := range t.From {
		covariance.SetDiag(i, spread*spread)
	}
	method := &optimize.CmaEsChol{InitStepSize: 1, InitCholesky: new(mat.Cholesky), Population: t.Candidates(),
		StopLogDet: math.NaN(), Src: rand.NewPCG(t.Match.Seed, 0)}
	method.InitCholesky.Factorize(covariance)
	_, err := optimize.Minimize(problem, make([]float64, len(t.From)), &optimize.Settings{
		Converger: optimize.NeverTerminate{}, FuncEvaluations: t.Generations * t.Candidates(),
	}, method)
	if ctx.Err() != nil {
		return failed
	}
	return err
}

// centre is the mean of the better half.
func centre(xs [][]float64, scores []float64) []float64 {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, scores[b]-scores[a])) })
	half := order[:(len(order)+1)/2]
	out := make([]float64, len(xs[0]))
	for _, k := range half {
		for i, v := range xs[k] {
			out[i] += v / float64(len(half))
		}
	}
	return out
}

// weights are those at x, which counts in the sizes of From's weights; one near 0 has a small fraction of their mean.
func (t *Tuning) weights(x []float64) []float32 {
	size := 0.0
	for _, v := range t.From {
		size += math.Abs(float64(v)) / float64(len(t.From))
	}
	out := make([]float32, len(x))
	for i, v := range t.From {
		w := float64(v) + x[i]*max(math.Abs(float64(v)), size/20)
		out[i] = float32(max(-entry.MaxWeight, min(w, entry.MaxWeight)))
	}
	return out
}

// games is how many games a candidate plays.
func (t *Tuning) games() int { return t.Match.Units * t.Match.GameSeats() }

// score is what weights score: points per game alone, or the share won against From.
func (t *Tuning) score(ctx context.Context, weights []float32, seed uint64) (float64, error) {
	m := t.Match
	m.Seed = seed
	players, err := t.Players(weights)
	if err != nil {
		return 0, err
	}
	m.Players = players[:m.GameSeats()]
	r, err := m.Play(ctx)
	switch {
	case err != nil || r.Games == 0:
		return 0, err
	case len(m.Players) == 1:
		return r.Players[0].Points.Mean.Value, nil
	}
	return r.Meetings[0].Score.Value, nil
}

// Players are hand with these weights, and with those of From.
func (t *Tuning) Players(weights []float32) ([]match.Player, error) {
	tuned, err := t.Player("tuned", weights)
	start, wrong := t.Player("start", t.From)
	return []match.Player{tuned, start}, cmp.Or(err, wrong)
}

// Player is hand with these weights, under a name.
func (t *Tuning) Player(name string, weights []float32) (match.Player, error) {
	data := t.Base.Format(weights)
	spec := "hand:weights=" + bots.ContentName(data)
	if t.With != "" {
		spec += "," + t.With
	}
	a, err := bots.Parse(t.Match.Rules, bots.Foreign(spec, func(string) ([]byte, error) { return data, nil }))
	if err != nil {
		return match.Player{}, err
	}
	f, err := a.Factory()
	return match.Player{Name: name, New: f}, err
}

// Draw is a picture of generations as SVG: the mean score of the candidates, from the worst to the best of them.
func (t *Tuning) Draw(generations []Generation) string {
	p := chart.Lines{Title: t.Match.Rules.Name + ": candidates of each generation, mean, worst and best",
		Across: "games played", Up: "points per game", Series: []chart.Line{{Name: "tuned"}}}
	least, most := math.Inf(1), math.Inf(-1)
	for _, g := range generations {
		p.Series[0].Points = append(p.Series[0].Points,
			chart.Point{At: float64(g.Games), Value: g.Mean, Low: g.Worst, High: g.Top})
		least, most = min(least, g.Worst), max(most, g.Top)
	}
	if p.FitPoints(least, most); t.Match.Rules.MaxSeats > 1 {
		p.Up, p.Even, p.From, p.To, p.Log = "score against the start", 0.5, 0, 1, false
	}
	return p.SVG()
}
