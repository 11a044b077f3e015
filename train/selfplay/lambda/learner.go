package lambda

import (
	"math"
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/trainer"
)

const netPrefix = "net."

// A Learner is a value net in training. Its mean plays.
type Learner struct {
	*selfplay.Value
	Config Config
	Notes  *Notes // of the current rollout

	run      *selfplay.Run
	policies []*policy
}

// New begins with a net, or with random weights if from is nil.
func New(r *selfplay.Run, c Config, from *mlp.Net) (*Learner, error) {
	v, err := selfplay.NewValue(r, trainer.Logistic, r.Options.Batch, from)
	return &Learner{Value: v, Config: c, Notes: NewNotes(r.Game, len(r.Slots)), run: r}, err
}

// Restore returns the learner that Save added to a state.
func Restore(r *selfplay.Run, c Config, s *selfplay.State) (*Learner, error) {
	l, err := New(r, c, nil)
	if err != nil {
		return nil, err
	}
	return l, l.RestoreMain(s, netPrefix)
}

// Save implements selfplay.Learner.
func (l *Learner) Save(s *selfplay.State) error { return l.SaveMain(s, netPrefix) }

// Gated implements selfplay.Learner.
func (l *Learner) Gated() error { return nil }

// Warm reports whether the next rollout belongs to the warm start.
func (l *Learner) Warm() bool { return l.run.Progress() < l.Config.Warm }

// Rollout implements selfplay.Learner.
func (l *Learner) Rollout() selfplay.Rollout {
	for len(l.policies) < l.run.Workers {
		l.policies = append(l.policies, newPolicy(l))
	}
	ro := l.BaseRollout()
	for _, p := range l.policies {
		p.Net = l.Mean.Clone()
		p.TwoPly = l.TwoPly()
		p.warm = ro.Baseline
		ro.Policies = append(ro.Policies, p)
	}
	return ro
}

// BaseRollout is a rollout without policies.
func (l *Learner) BaseRollout() selfplay.Rollout {
	o := l.run.Options
	return selfplay.Rollout{Steps: o.Rounds, Late: o.Late, Versus: l.Config.Versus, Baseline: l.Warm()}
}

// TwoPly reports whether the next rollout searches two plies deep.
func (l *Learner) TwoPly() bool { return l.run.Progress() >= 1-l.Config.Deep }

// Fit implements selfplay.Learner.
func (l *Learner) Fit() error {
	l.Collect(nil)
	return l.FitRows(l.run.Shuffle(), l.rate())
}

// FitRows fits the collected rows once and counts them.
func (l *Learner) FitRows(shuffle *rand.Rand, rate float64) error {
	counts := &l.run.Counts
	loss, err := l.Pass(shuffle, rate)
	if err != nil {
		return err
	}
	if l.Rows.Len() > 0 {
		counts.Loss = loss
	}
	counts.Rows += l.Rows.Len()
	return l.Fitted(counts.Iterations + 1)
}

func (l *Learner) rate() float64 {
	if l.Warm() {
		return l.Config.RateWarm
	}
	return Fall(l.Config.RateFrom, l.Config.RateTo, l.Config.fallFrom, l.run.Progress())
}

// Fall is a learning rate that falls along half a cosine, from one rate at the progress
// since to another at the end of the budget.
func Fall(from, to, since, progress float64) float64 {
	return to + (from-to)*(1+math.Cos(math.Pi*(progress-since)/(1-since+1e-9)))/2
}
