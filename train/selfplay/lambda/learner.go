package lambda

import (
	"math"
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/rows"
	"blockyard/train/selfplay"
	"blockyard/train/trainer"
)

// NetPrefix marks the mean net in a state file.
const NetPrefix = "net."

// A Learner is a value net and its trainer.
type Learner struct {
	Config  Config
	Trainer *trainer.Trainer
	Mean    *mlp.Net // of the trainer's weights over the last fits: it plays
	After   float64  // progress at which the learning rate begins to fall from RateFrom

	Notes *Notes // of the current rollout

	run      *selfplay.Run
	rows     rows.Rows
	policies []*policy
}

// New begins with a net, or with random weights if from is nil.
func New(r *selfplay.Run, c Config, from *mlp.Net) (*Learner, error) {
	o := r.Options
	t, err := trainer.New(trainer.Config{Sizes: o.Sizes(r.Game), Batch: o.Batch, Loss: trainer.Logistic, Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	if from != nil {
		if err := t.SetNet(from); err != nil {
			return nil, err
		}
	}
	l := &Learner{Config: c, Trainer: t, After: c.Warm, Notes: NewNotes(r.Game, len(r.Slots)), run: r, rows: rows.Rows{Game: r.Game}}
	l.Mean, err = t.Net()
	return l, err
}

// Restore returns the learner that Save added to a state.
func Restore(r *selfplay.Run, c Config, s *selfplay.State) (*Learner, error) {
	l, err := New(r, c, nil)
	if err != nil {
		return nil, err
	}
	var steps int
	if _, err = s.Get("steps", &steps); err == nil {
		err = s.SetTrainer("", l.Trainer, steps)
	}
	if err == nil {
		l.Mean, err = s.NeedNet(NetPrefix, r.Options.Sizes(r.Game))
	}
	return l, err
}

// Save implements selfplay.Learner.
func (l *Learner) Save(s *selfplay.State) error {
	steps := s.AddTrainer("", l.Trainer)
	s.AddNet(NetPrefix, l.Mean)
	return s.Put("steps", steps)
}

// Close implements selfplay.Learner.
func (l *Learner) Close() error { return l.Trainer.Close() }

// Net implements selfplay.Learner.
func (l *Learner) Net() *mlp.Net { return l.Mean }

// Gated implements selfplay.Learner.
func (l *Learner) Gated() error { return nil }

// Warm reports whether the next rollout belongs to the warm start.
func (l *Learner) Warm() bool { return l.run.Progress() < l.Config.Warm }

// Rollout implements selfplay.Learner.
func (l *Learner) Rollout() selfplay.Rollout {
	for len(l.policies) < l.run.Workers {
		l.policies = append(l.policies, newPolicy(l))
	}
	ro := l.Shared()
	for _, p := range l.policies {
		p.Net = l.Mean.Clone()
		p.TwoPly = l.TwoPly()
		p.warm = ro.Baseline
		ro.Policies = append(ro.Policies, p)
	}
	return ro
}

// Shared is a rollout without policies.
func (l *Learner) Shared() selfplay.Rollout {
	o := l.run.Options
	return selfplay.Rollout{Steps: o.Rounds, Late: o.Late, Versus: l.Config.Versus, Baseline: l.Warm()}
}

// TwoPly reports whether the next rollout searches two plies deep.
func (l *Learner) TwoPly() bool { return l.run.Progress() >= 1-l.Config.Deep }

// Fit implements selfplay.Learner.
func (l *Learner) Fit() error {
	l.Collect(nil)
	return l.Pass(l.run.Shuffle(), l.rate())
}

// Pass fits the collected rows once, counts them and moves the mean of the nets on.
func (l *Learner) Pass(shuffle *rand.Rand, rate float64) error {
	r := l.run
	loss, err := l.rows.Pass(l.Trainer, shuffle, r.Options.Batch, rate)
	if err != nil {
		return err
	}
	if l.rows.Len() > 0 {
		r.Counts.Loss = loss
	}
	r.Counts.Rows += l.rows.Len()
	now, err := l.Trainer.Net()
	if err != nil {
		return err
	}
	l.Mean, err = selfplay.RunningMean(l.Mean, now, r.Counts.Iterations+1, r.Options.Mean)
	return err
}

func (l *Learner) rate() float64 {
	if l.Warm() {
		return l.Config.RateWarm
	}
	return Fall(l.Config.RateFrom, l.Config.RateTo, l.After, l.run.Progress())
}

// Fall is a learning rate that falls along half a cosine, from one rate at the progress
// since to another at the end of the budget.
func Fall(from, to, since, progress float64) float64 {
	return to + (from-to)*(1+math.Cos(math.Pi*(progress-since)/(1-since+1e-9)))/2
}
