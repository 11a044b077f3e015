// Package actor trains a net to choose by policy gradient. A second net, the critic, learns
// values by TD(λ) from the same games and says how the choices turned out.
//
// For each decision the actor draws two options a and b from π, the softmax of its outputs z
// over the temperature, and plays a. The advantage A is the λ-return after a less the
// critic's value of the seat's position before it. Both options are fitted by the
// logistic loss softplus(z) − y·z, whose gradient by z is σ(z) − y, with the targets
//
//	y(a) = σ(z(a)) + step·A    y(b) = σ(z(b)) − step·A
//
// At the weights that played, the gradient is −step·A·(∇z(a) − ∇z(b)), and the mean of
// A·(∇z(a) − ∇z(b)) over a and b is that of A·(∇z(a) − Σ π∇z): the temperature times the
// policy gradient. Away from these weights the loss pulls both outputs back to where
// they were, so that the passes over one rollout go no further than its advantages.
//
//	config.go   settings
//	actor.go    Learner: the net, its rows and targets
//	policy.go   one decision: two options drawn, one played
package actor

import (
	"errors"
	"fmt"

	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/lambda"
	"blockyard/train/trainer"
)

// What the actor's tensors in a state file begin with.
const (
	trainerPrefix = "actor."
	meanPrefix    = "actor mean."
)

// A Learner is an actor and its critic. The net as of the last fit plays, the mean is
// gated and saved.
type Learner struct {
	*selfplay.Value
	Critic *lambda.Learner

	config   Config
	run      *selfplay.Run
	fits     int
	pairs    [][env.MaxSeats]pairs // by slot
	gains    []float32             // the advantages of the pairs that Rows are made of
	policies []*policy
}

// pairs are what a seat chose and what was drawn for comparison.
type pairs struct {
	x  []float32 // [pairs][2][features]
	at []int     // [pairs], index of what was chosen in the steps of the seat's path
}

// New begins with an actor that is a copy of the critic's net.
func New(r *selfplay.Run, c Config, critic *lambda.Learner) (*Learner, error) {
	v, err := selfplay.NewValue(r, trainer.Logistic, c.ActorBatch, critic.Mean)
	return &Learner{Value: v, Critic: critic, config: c, run: r, pairs: make([][env.MaxSeats]pairs, len(r.Slots))}, err
}

// saved is an actor but for its tensors.
type saved struct {
	Steps int `json:"steps"` // of its optimiser
	Fits  int `json:"fits"`
}

// Restore returns the actor that Save added to a state.
func Restore(r *selfplay.Run, c Config, critic *lambda.Learner, s *selfplay.State) (*Learner, error) {
	if c.Actor == 0 {
		return nil, errors.New("the saved run has an actor, but its settings have none")
	}
	var x saved
	if err := s.Get("actor", &x); err != nil {
		return nil, err
	}
	l, err := New(r, c, critic)
	if err != nil {
		return nil, err
	}
	l.fits = x.Fits
	if err := l.Value.Restore(s, trainerPrefix, meanPrefix, x.Steps); err != nil {
		return nil, fmt.Errorf("the actor: %w", err)
	}
	return l, nil
}

// Save implements selfplay.Learner.
func (l *Learner) Save(s *selfplay.State) error {
	x := saved{Steps: l.Value.Save(s, trainerPrefix, meanPrefix), Fits: l.fits}
	return errors.Join(l.Critic.Save(s), s.Put("actor", x))
}

// Close implements selfplay.Learner.
func (l *Learner) Close() error { return errors.Join(l.Critic.Close(), l.Value.Close()) }

// Gated implements selfplay.Learner.
func (l *Learner) Gated() error { return nil }

// Rollout implements selfplay.Learner.
func (l *Learner) Rollout() selfplay.Rollout {
	for len(l.policies) < l.run.Workers {
		l.policies = append(l.policies, newPolicy(l))
	}
	ro := l.Critic.BaseRollout()
	for _, p := range l.policies {
		p.Net, p.TwoPly = l.Now.Clone(), l.Critic.TwoPly()
		ro.Policies = append(ro.Policies, p)
	}
	return ro
}

// Fit implements selfplay.Learner: one pass of the critic, then one of the actor.
func (l *Learner) Fit() error {
	l.Rows.Cut(0)
	l.gains = l.gains[:0]
	l.Critic.Collect(func(slot, seat int, p *lambda.Path, returns []float32) {
		l.add(&l.pairs[slot][seat], p.Steps, returns)
	})
	l.setTargets()
	rate := lambda.Fall(l.config.ActorFrom, l.config.ActorTo, l.config.begins, l.run.Progress())
	shuffle := l.run.Shuffle()
	if err := l.Critic.FitRows(shuffle, rate); err != nil {
		return err
	}
	l.run.Counts.Pairs += len(l.gains)
	if _, err := l.Pass(shuffle, rate); err != nil {
		return err
	}
	l.fits++ // the net that the actor began as counts as one fit more
	return l.Fitted(l.fits + 1)
}

// add appends a path's pairs, given the λ-returns of its steps. A pair counts only if
// something is known of what came of it and of the step before it.
func (l *Learner) add(p *pairs, steps []lambda.Step, returns []float32) {
	n := 2 * len(l.Rows.Game.Features)
	for i, t := range p.at {
		if t == 0 || steps[t-1].Ended || returns[t] != returns[t] {
			continue
		}
		l.Rows.X = append(l.Rows.X, p.x[i*n:(i+1)*n]...)
		l.gains = append(l.gains, returns[t]-steps[t-1].Value)
	}
}

// setTargets gives the rows of the rollout their targets. What all advantages have in
// common says nothing about choices and is subtracted.
func (l *Learner) setTargets() {
	sum := 0.0
	for _, g := range l.gains {
		sum += float64(g)
	}
	common := float32(sum / float64(max(1, len(l.gains))))
	z := make([]float32, 2*len(l.gains))
	l.Now.Forward(l.Rows.X, len(z), z)
	for i, g := range l.gains {
		d := float32(l.config.Step) * (g - common)
		l.Rows.Y = append(l.Rows.Y, lambda.Odds(z[2*i])+d, lambda.Odds(z[2*i+1])-d)
	}
}
