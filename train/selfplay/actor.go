package selfplay

import (
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/rows"
	"blockyard/train/trainer"
)

// An actor is a net that learns to choose, not to judge: the critic, which is the net
// that learns values, tells it how its choices turned out.
//
// For each decision it draws two options a and b from π, the softmax of its outputs z
// over the temperature, and plays a. The advantage A is the λ-return after a less the
// critic's value of the seat's position before it. Both options are fitted by the
// logistic loss softplus(z) − y·z, whose gradient by z is σ(z) − y, with the targets
//
//	y(a) = σ(z(a)) + step·A    y(b) = σ(z(b)) − step·A
//
// At the weights that played, the gradient is −step·A·(∇z(a) − ∇z(b)), and the mean of
// A·(∇z(a) − ∇z(b)) over a and b is that of A·(∇z(a) − Σ π∇z): the temperature times the
// policy gradient. Away from these weights the loss pulls both outputs back to where
// they were, so that the passes over one stretch go no further than its advantages.
type actor struct {
	trainer *trainer.Trainer
	net     *mlp.Net // as of the last fit; it plays
	mean    *mlp.Net // of net over the last fits
	fits    int
	rows    rows.Rows // of a stretch, two a pair
	gains   []float32 // their advantages
}

// hire begins with an actor that is a copy of from.
func (r *Run) hire(from *mlp.Net) error {
	c := r.Config
	t, err := trainer.New(trainer.Config{Sizes: sizes(r.Game, c), Batch: c.ActorBatch, Loss: trainer.Logistic, Seed: c.Seed})
	if err != nil {
		return err
	}
	r.actor = &actor{trainer: t, net: from, mean: from, rows: rows.Rows{Game: r.Game}}
	return t.SetNet(from)
}

// clear forgets the stretch before.
func (a *actor) clear() {
	a.rows.Cut(0)
	a.gains = a.gains[:0]
}

// add appends the pairs of a path, given the λ-returns of its steps. A pair counts only
// if something is known of what came of it and of the step before it.
func (a *actor) add(p *path, returns []float32) {
	n := 2 * len(a.rows.Game.Features)
	for i, t := range p.pairAt {
		if t == 0 || p.steps[t-1].kind == ended || returns[t] != returns[t] {
			continue
		}
		a.rows.X = append(a.rows.X, p.pairX[i*n:(i+1)*n]...)
		a.gains = append(a.gains, returns[t]-p.steps[t-1].value)
	}
}

// aim gives the rows of the stretch their targets. What all advantages have in common
// says nothing about choices and is taken off.
func (a *actor) aim(step float32) {
	sum := 0.0
	for _, g := range a.gains {
		sum += float64(g)
	}
	common := float32(sum / float64(max(1, len(a.gains))))
	z := make([]float32, 2*len(a.gains))
	a.net.Forward(a.rows.X, len(z), z)
	for i, g := range a.gains {
		d := step * (g - common)
		a.rows.Y = append(a.rows.Y, odds(z[2*i])+d, odds(z[2*i+1])-d)
	}
}

// fit takes one pass over the rows at a learning rate and moves the mean on, in which the
// net the actor began as counts as one fit.
func (a *actor) fit(shuffle *rand.Rand, c Config, rate float64) error {
	if _, err := a.rows.Pass(a.trainer, shuffle, c.ActorBatch, rate); err != nil {
		return err
	}
	now, err := a.trainer.Net()
	if err != nil {
		return err
	}
	a.net = now
	a.fits++
	a.mean, err = mean(a.mean, now, a.fits+1, c.Mean)
	return err
}
