package phases

import (
	"math"
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/trainer"
)

// What the tensors of nets in a state file begin with. Those of the trainer of a learner's
// first net have no prefix.
const (
	netPrefix       = "net."  // of the critic, or of a backup
	basePrefix      = "base." // of a backup
	actorPrefix     = "actor."
	actorMeanPrefix = "actor mean."
)

// A lambdaLearner is a value net in training. Its mean plays.
type lambdaLearner struct {
	*selfplay.Value
	config   *Config
	notes    *notes // of the current rollout
	run      *selfplay.Run
	policies []*lambdaPolicy
}

// newLambda begins with a net, or with random weights if from is nil.
func newLambda(r *selfplay.Run, c *Config, from *mlp.Net) (*lambdaLearner, error) {
	v, err := selfplay.NewValue(r, trainer.Logistic, r.Options.Batch, from)
	return &lambdaLearner{Value: v, config: c, notes: newNotes(r.Game, len(r.Slots)), run: r}, err
}

func (l *lambdaLearner) Save(s *selfplay.State) { s.Steps = l.Value.Save(s, "", netPrefix) }

// warm reports whether the next rollout belongs to the warm start.
func (l *lambdaLearner) warm() bool { return l.run.Progress() < l.config.Warm }

func (l *lambdaLearner) Rollout() selfplay.Rollout {
	for len(l.policies) < l.run.Workers {
		l.policies = append(l.policies, newLambdaPolicy(l))
	}
	ro := l.baseRollout()
	for _, p := range l.policies {
		p.Net = l.Mean.Clone()
		p.TwoPly = l.twoPly()
		p.warm = ro.Baseline
		ro.Policies = append(ro.Policies, p)
	}
	return ro
}

// baseRollout is a rollout without policies.
func (l *lambdaLearner) baseRollout() selfplay.Rollout {
	o := l.run.Options
	return selfplay.Rollout{Steps: o.Rounds, Late: o.Late, Versus: l.config.Versus, Baseline: l.warm()}
}

// twoPly reports whether the next rollout searches two plies deep.
func (l *lambdaLearner) twoPly() bool { return l.run.Progress() >= 1-l.config.Deep }

func (l *lambdaLearner) Fit() error {
	l.collect(nil)
	return l.fitRows(l.run.Shuffle(), l.rate())
}

// fitRows fits the collected rows once and counts them.
func (l *lambdaLearner) fitRows(shuffle *rand.Rand, rate float64) error {
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

func (l *lambdaLearner) rate() float64 {
	if l.warm() {
		return l.config.RateWarm
	}
	return fall(l.config.RateFrom, l.config.RateTo, l.config.fallFrom(), l.run.Progress())
}

// fall is a learning rate that falls along half a cosine, from one rate at the progress
// since to another at the end of the budget.
func fall(from, to, since, progress float64) float64 {
	return to + (from-to)*(1+math.Cos(math.Pi*(progress-since)/(1-since+1e-9)))/2
}
