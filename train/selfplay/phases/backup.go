package phases

import (
	"errors"
	"math"
	"slices"

	"blockyard/agents/mlp"
	"blockyard/train/network"
	"blockyard/train/selfplay"
)

const (
	passes      = 2   // over the rows of each rollout
	shorter     = 16  // a rollout has a 16th of the usual steps: each of its rows costs a search
	maxChange   = 1.5 // how far a target may be from the base's value
	outlier     = 3   // a change beyond it counts as this in the average
	averageOver = 200 // fits that the average change is taken over
)

// A backupLearner is a net in training and its base, in a game of turns.
type backupLearner struct {
	*selfplay.Value
	config *Config
	run    *selfplay.Run
	base   *mlp.Net // plays, and its values are improved on

	average float64 // running mean of what a ply more changes
	fits    int     // of this stage
}

// newBackup begins with a net.
func newBackup(r *selfplay.Run, c *Config, from *mlp.Net) (*backupLearner, error) {
	v, err := selfplay.NewValue(r, network.Config{Loss: network.Square, Batch: c.Batch, Seed: c.Seed}, from)
	return &backupLearner{Value: v, config: c, run: r, base: from}, err
}

// restoreBackup returns the learner that Save added to a state.
func restoreBackup(r *selfplay.Run, c *Config, s *selfplay.State) (*backupLearner, error) {
	if c.Backup == 0 {
		return nil, errors.New("the saved run has a backup, but its settings have none")
	}
	base, err := s.AnyNet(basePrefix, len(r.Game.Features))
	if err != nil {
		return nil, err
	}
	l, err := newBackup(r, c, base)
	if err != nil {
		return nil, err
	}
	l.average, l.fits = s.Backup.Average, s.Backup.Fits
	return l, l.Restore(s, "", netPrefix, s.Steps)
}

func (l *backupLearner) Save(s *selfplay.State) {
	s.AddNet(basePrefix, l.base)
	s.Steps = l.Value.Save(s, "", netPrefix)
	s.Backup = &selfplay.BackupState{Average: l.average, Fits: l.fits}
}

// Gated implements selfplay.Learner: it begins a stage with the net as the base, or with the best net so far if a
// sequential test has decided against the net: what it learned is lost then, and other games are played. Without that
// test a gate is too short to tell.
func (l *backupLearner) Gated() error {
	l.base, l.average, l.fits = l.Mean, 0, 0
	best := l.run.Best
	if l.config.GateElo > 0 && best != nil && slices.Equal(network.Sizes(best), network.Sizes(l.base)) {
		l.base = best
	}
	return l.Trainer.SetNet(l.base)
}

func (l *backupLearner) Rollout() selfplay.Rollout {
	o := l.run.Options
	return selfplay.Rollout{
		Kind: backupKind, Net: l.base, Steps: max(1, o.Rounds/shorter), Late: o.Late, Versus: l.config.Versus,
		Ahead: l.run.UntilGate(1) - 1, // the base stands still
	}
}

func (l *backupLearner) Fit() error {
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
func (l *backupLearner) collect() {
	l.Rows.Cut(0)
	var changes []float32
	sum := 0.0
	for _, slot := range l.run.Slots {
		s, ok := slot.Notes.(*samples)
		if !ok {
			continue
		}
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
func (l *backupLearner) rate() float64 {
	return l.config.RateBackup * (0.02 + 0.98*(1+math.Cos(math.Pi*stagePart(l.run)))/2)
}
