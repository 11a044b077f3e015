package single

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/train/network"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

const meanPrefix = "mean."

// A learner is a net in training, which plays as of the last fit, and the steps that it keeps. Gates get the mean.
type learner struct {
	*selfplay.Value
	config *Config
	kept   []afterstate.Path // of the last rollouts, the oldest first
}

// Notes implements selfplay.Algorithm: λ, the discount, and what an output of the network means.
func (c *Config) Notes(r *selfplay.Run) map[string]string {
	points := fmt.Sprintf("discounted points to come, each %g", r.Game.Solo.Unit)
	return map[string]string{
		"lambda":   strconv.FormatFloat(c.Lambda, 'g', -1, 64),
		"discount": strconv.FormatFloat(c.discount(r.Game), 'g', -1, 64),
		"output":   cmp.Or(r.Game.Solo.Survival, points),
	}
}

// Stage implements selfplay.Algorithm: whether the baseline or the network plans.
func (c *Config) Stage(r *selfplay.Run) string {
	switch {
	case r.Game.Solo.Survival != "":
		return "survival"
	case r.Game.Solo.Planner == nil:
		return "points"
	case r.Progress() < c.Warm:
		return "points, the baseline plans"
	}
	return "points, the net plans"
}

// Next implements selfplay.Algorithm: one learner has the whole run.
func (c *Config) Next(_ *selfplay.Run, last selfplay.Learner) (selfplay.Learner, error) {
	return last, nil
}

// Start implements selfplay.Algorithm. The net has random weights if from is nil.
func (c *Config) Start(r *selfplay.Run, from *mlp.Net, _ *selfplay.State) (selfplay.Learner, error) {
	loss := network.Square
	if r.Game.Solo.Survival != "" {
		loss = network.Logistic
	}
	v, err := selfplay.NewValue(r, network.Config{Loss: loss}, meanPrefix, from)
	if err != nil {
		return nil, err
	}
	v.Computed = true // as in runs that were saved before
	return &learner{Value: v, config: c}, nil
}

func (l *learner) Restore(s *selfplay.State) (err error) {
	if err := l.Value.Restore(s); err != nil {
		return err
	}
	l.kept, err = afterstate.Unpack(s.Tensors, s.Kept, len(l.Run.Game.Features))
	return err
}

func (l *learner) Save(s *selfplay.State) {
	again := l.kept[len(l.kept)-min(len(l.kept), (l.config.Keep-1)*l.config.Games):]
	if len(again) > 0 {
		var tensors []mlp.Tensor
		tensors, s.Kept = afterstate.Pack(again, len(l.Run.Game.Features))
		s.Tensors = append(s.Tensors, tensors...)
	}
	l.Value.Save(s)
}

func (l *learner) Rollout() selfplay.Rollout {
	o := l.Run.Options
	return selfplay.Rollout{
		Kind: kind, Net: l.Now, Steps: o.Rounds, Late: o.Late, Longest: l.config.Longest,
		Baseline: l.Run.Progress() < l.config.Warm,
	}
}

func (l *learner) Fit() error {
	l.collect()
	c := l.config
	rate := c.RateEnd + (c.Rate-c.RateEnd)*(1+math.Cos(math.Pi*l.Run.Progress()))/2
	if err := l.Learn(1, rate); err != nil {
		return err
	}
	return l.Fitted(l.Run.Counts.Iterations + 1)
}

// collect turns what was noted into rows. The current net evaluates older rollouts again.
func (l *learner) collect() {
	last := 0 // steps of the last rollout
	for _, slot := range l.Run.Slots {
		if s, ok := slot.Notes.(*steps); ok {
			l.Run.Counts.Rows += len(s.Steps)
			l.kept = append(l.kept, s.Path)
			last++
		}
	}
	if most := l.config.Keep * l.config.Games; len(l.kept) > most {
		l.kept = append(l.kept[:0], l.kept[len(l.kept)-most:]...)
	}
	l.Rows.Cut(0)
	n := len(l.Run.Game.Features)
	evaluate := (*afterstate.Path).Evaluate
	if l.Run.Game.Solo.Survival != "" {
		evaluate = (*afterstate.Path).EvaluateChances
	}
	y, ok := make([]float32, l.config.Rounds), make([]bool, l.config.Rounds)
	for k := range l.kept {
		s := &l.kept[k]
		if k < len(l.kept)-last {
			evaluate(s, l.Now)
		}
		returns(s.Steps, float32(l.config.Lambda), float32(l.config.discount(l.Run.Game)), y, ok)
		for i := range s.Steps {
			if ok[i] {
				l.Rows.X, l.Rows.Y = append(l.Rows.X, s.X[i*n:(i+1)*n]...), append(l.Rows.Y, y[i])
			}
		}
	}
}
