package selfplay

import (
	"math"
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/task"
)

// learnAll learns from the stretch that has been played.
func (r *Run) learnAll(d deal) error {
	if r.backup != nil {
		r.study()
		return r.fitBackup()
	}
	r.collect(d)
	return r.fit()
}

// fit takes one pass over the rows, then one over the actor's.
func (r *Run) fit() error {
	shuffle := rand.New(rand.NewPCG(r.Config.Seed^rowStream, uint64(r.Counts.Iterations)))
	loss, err := r.rows.Pass(r.trainer, shuffle, r.Config.Batch, r.rate())
	if err != nil {
		return err
	}
	if r.rows.Len() > 0 {
		r.Counts.Loss = loss
	}
	r.Counts.Rows += r.rows.Len()
	now, err := r.trainer.Net()
	if err != nil {
		return err
	}
	if r.net, err = mean(r.net, now, r.Counts.Iterations+1, r.Config.Mean); err != nil || r.actor == nil {
		return err
	}
	r.Counts.Pairs += len(r.actor.gains)
	return r.actor.fit(shuffle, r.Config, r.rate())
}

// mean moves a running mean of nets over a number of iterations on to the next one.
func mean(before, now *mlp.Net, iteration, over int) (*mlp.Net, error) {
	share := 1 / float32(min(iteration, over))
	layers := make([]mlp.Layer, len(now.Layers()))
	for i, l := range now.Layers() {
		b := before.Layers()[i]
		layers[i] = mlp.Layer{In: l.In, Out: l.Out, W: between(b.W, l.W, share), B: between(b.B, l.B, share)}
	}
	return mlp.New(layers)
}

func between(a, b []float32, share float32) []float32 {
	if share == 1 {
		return b
	}
	out := make([]float32, len(a))
	for i := range a {
		out[i] = a[i] + share*(b[i]-a[i])
	}
	return out
}

// rate is RateWarm in the warm start. After it and again when the actor begins it falls
// from one rate to another, along half a cosine that ends with the budget.
func (r *Run) rate() float64 {
	c, p := r.Config, r.Progress()
	fall := func(from, to, since float64) float64 {
		return to + (from-to)*(1+math.Cos(math.Pi*(p-since)/(1-since+1e-9)))/2
	}
	switch {
	case p < c.Warm:
		return c.RateWarm
	case r.actor != nil:
		return fall(c.ActorFrom, c.ActorTo, c.actorFrom())
	}
	return fall(c.RateFrom, c.RateTo, max(c.Warm, c.Backup))
}

// sizes are those of a run's nets.
func sizes(g *task.Game, c Config) []int {
	return append(append([]int{len(g.Features)}, c.Hidden...), 1)
}
