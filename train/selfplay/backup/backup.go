// Package backup trains a net by fitted value iteration: the net learns what a search with
// the net before it finds, stage by stage.
//
// The base net stands still for a stage. It plays two plies deep; the learner's net is fitted
// to the base's values plus what searching one ply further changes. A gate ends the stage:
// then the learner's net becomes the base.
//
// A ply more changes something in every position, and only differences matter to play.
// So the average change is subtracted: relative value iteration.
//
//	config.go   settings
//	backup.go   Learner: nets, targets, stages
//	policy.go   one decision, two plies deep, and the positions noted of it
//	ahead.go    what searching further changes
package backup

import (
	"errors"
	"math"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/trainer"
)

const (
	passes      = 2   // over the rows of each rollout
	shorter     = 16  // a rollout has a 16th of the usual steps: each of its rows costs a search
	maxChange   = 1.5 // how far a target may be from the base's value
	outlier     = 3   // a change beyond it counts as this in the average
	averageOver = 200 // fits that the average change is taken over
	netPrefix   = "net."
	basePrefix  = "base."
)

// A Learner is a net in training and its base.
type Learner struct {
	*selfplay.Value
	config Config
	run    *selfplay.Run
	base   *mlp.Net // plays, and its values are improved on

	average  float64   // running mean of what a ply more changes
	fits     int       // of this stage
	samples  []samples // by slot
	policies []*policy
}

// New begins with a net.
func New(r *selfplay.Run, c Config, from *mlp.Net) (*Learner, error) {
	v, err := selfplay.NewValue(r, trainer.Square, r.Options.Batch, from)
	return &Learner{Value: v, config: c, run: r, base: from, samples: make([]samples, len(r.Slots))}, err
}

// saved is a backup but for its nets.
type saved struct {
	Average float64 `json:"drift"`
	Fits    int     `json:"fits"`
}

// Restore returns the learner that Save added to a state.
func Restore(r *selfplay.Run, c Config, s *selfplay.State) (*Learner, error) {
	if c.Backup == 0 {
		return nil, errors.New("the saved run has a backup, but its settings have none")
	}
	base, err := s.NeedNet(basePrefix, r.Options.Sizes(r.Game))
	if err != nil {
		return nil, err
	}
	l, err := New(r, c, base)
	if err != nil {
		return nil, err
	}
	var x saved
	err = s.Get("backup", &x)
	l.average, l.fits = x.Average, x.Fits
	return l, errors.Join(err, l.RestoreMain(s, netPrefix))
}

// Save implements selfplay.Learner.
func (l *Learner) Save(s *selfplay.State) error {
	s.AddNet(basePrefix, l.base)
	return errors.Join(l.SaveMain(s, netPrefix), s.Put("backup", saved{l.average, l.fits}))
}

// Gated implements selfplay.Learner: it begins a stage with the net as the base.
func (l *Learner) Gated() error {
	l.base, l.average, l.fits = l.Mean, 0, 0
	return l.Trainer.SetNet(l.Mean)
}

// Rollout implements selfplay.Learner.
func (l *Learner) Rollout() selfplay.Rollout {
	for len(l.policies) < l.run.Workers {
		l.policies = append(l.policies, newPolicy(l))
	}
	o := l.run.Options
	ro := selfplay.Rollout{Steps: max(1, o.Rounds/shorter), Late: o.Late, Versus: l.config.versus}
	for _, p := range l.policies {
		p.Net = l.base.Clone()
		ro.Policies = append(ro.Policies, p)
	}
	return ro
}

// Fit implements selfplay.Learner.
func (l *Learner) Fit() error {
	l.collect()
	counts, shuffle := &l.run.Counts, l.run.Shuffle()
	for pass := range passes {
		loss, err := l.Pass(shuffle, l.rate())
		if err != nil {
			return err
		}
		if pass == 0 && l.Rows.Len() > 0 {
			counts.Loss = loss
		}
	}
	counts.Rows += l.Rows.Len()
	l.fits++
	return l.Fitted(l.fits)
}

// collect turns the samples of all slots into rows with targets.
func (l *Learner) collect() {
	l.Rows.Cut(0)
	var changes []float32
	sum := 0.0
	for i := range l.samples {
		s := &l.samples[i]
		l.Rows.X = append(l.Rows.X, s.x...)
		l.Rows.Y = append(l.Rows.Y, s.base...)
		changes = append(changes, s.change...)
	}
	for i, g := range changes {
		changes[i] = min(max(g, -outlier), outlier)
		sum += float64(changes[i])
	}
	if len(changes) > 0 {
		l.average += (sum/float64(len(changes)) - l.average) / float64(min(l.fits+1, averageOver))
	}
	for i, g := range changes {
		l.Rows.Y[i] += min(max(g-float32(l.average), -maxChange), maxChange)
	}
}

// rate falls in each stage to almost nothing, along half a cosine.
func (l *Learner) rate() float64 {
	r := l.run
	part := min(1, max(0, r.Progress()*float64(r.Options.Gates)-float64(r.Counts.Gated)))
	return l.config.RateBackup * (0.02 + 0.98*(1+math.Cos(math.Pi*part))/2)
}
