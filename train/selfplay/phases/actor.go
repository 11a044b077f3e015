package phases

import (
	"errors"
	"fmt"

	"blockyard/train/network"
	"blockyard/train/selfplay"
)

// An actorLearner is an actor and its critic. The net as of the last fit plays, the mean is gated and saved.
type actorLearner struct {
	*selfplay.Value
	critic *lambdaLearner
	config *Config
	run    *selfplay.Run
	fits   int
	gains  []float32 // the advantages of the pairs that Rows are made of
}

// newActor begins with an actor that is a copy of the critic's net.
func newActor(r *selfplay.Run, c *Config, critic *lambdaLearner) (*actorLearner, error) {
	v, err := selfplay.NewValue(r, network.Config{Batch: c.ActorBatch, Seed: c.Seed}, critic.Mean)
	return &actorLearner{Value: v, critic: critic, config: c, run: r}, err
}

// restoreActor returns the actor that Save added to a state.
func restoreActor(r *selfplay.Run, c *Config, critic *lambdaLearner, s *selfplay.State) (*actorLearner, error) {
	if c.Actor == 0 {
		return nil, errors.New("the saved run has an actor, but its settings have none")
	}
	l, err := newActor(r, c, critic)
	if err != nil {
		return nil, err
	}
	l.fits = s.Actor.Fits
	if err := l.Restore(s, actorPrefix, actorMeanPrefix, s.Actor.Steps); err != nil {
		return nil, fmt.Errorf("the actor: %w", err)
	}
	return l, nil
}

func (l *actorLearner) Save(s *selfplay.State) {
	s.Actor = &selfplay.ActorState{Steps: l.Value.Save(s, actorPrefix, actorMeanPrefix), Fits: l.fits}
	l.critic.Save(s)
}

func (l *actorLearner) Close() error { return errors.Join(l.critic.Close(), l.Value.Close()) }

func (l *actorLearner) Rollout() selfplay.Rollout {
	return l.critic.rollout(actorKind, l.Now)
}

// Fit implements selfplay.Learner: one pass of the critic, then one of the actor.
func (l *actorLearner) Fit() error {
	l.Rows.Cut(0)
	l.gains = l.gains[:0]
	l.critic.collect(func(p *seatNotes, returns []float32) { l.add(&p.pairs, p.Steps, returns) })
	l.setTargets()
	rate := fall(l.config.ActorFrom, l.config.ActorTo, l.config.actorFrom(), 1, l.run.Progress())
	shuffle := l.run.Shuffle()
	if err := l.critic.fitRows(shuffle, rate); err != nil {
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
func (l *actorLearner) add(p *pairs, steps []step, returns []float32) {
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
func (l *actorLearner) setTargets() {
	sum := 0.0
	for _, g := range l.gains {
		sum += float64(g)
	}
	common := float32(sum / float64(max(1, len(l.gains))))
	z := make([]float32, 2*len(l.gains))
	l.Now.Forward(l.Rows.X, len(z), z)
	for i, g := range l.gains {
		d := float32(l.config.Step) * (g - common)
		l.Rows.Y = append(l.Rows.Y, odds(z[2*i])+d, odds(z[2*i+1])-d)
	}
}
