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
	siblingSteps = 16  // a rollout has so many times fewer steps than one of TD(λ): a decision costs a search
	refit        = 0.1 // share of the decisions of the stage so far that each fit takes, drawn at random
	sharpness    = 0.2 // temperature of the softmax over siblings, in the net's log odds
	meanOver     = 8   // weights are averaged over this part of a stage, its last
)

// A siblingLearner is a net in training and its base, which plays and says what the targets are.
type siblingLearner struct {
	*selfplay.Value
	config *Config
	run    *selfplay.Run
	reader *siblingReader
	base   *mlp.Net

	stage decisions // all so far
	fits  int       // of this stage
}

// perStep is how many decisions a step of the optimiser takes.
func (c *Config) perStep() int { return max(1, c.Batch/c.Samples) }

// newSiblings begins with a net.
func newSiblings(r *selfplay.Run, c *Config, from *mlp.Net) (*siblingLearner, error) {
	v, err := selfplay.NewValue(r, network.Config{
		Loss: network.Choice, Batch: c.perStep() * c.Samples, Group: c.Samples, Temperature: sharpness, Seed: c.Seed,
	}, from)
	return &siblingLearner{
		Value: v, config: c, run: r, reader: newSiblingReader(r.Game), base: from,
		stage: decisions{game: r.Game, siblings: c.Samples},
	}, err
}

// restoreSiblings returns the learner that Save added to a state.
func restoreSiblings(r *selfplay.Run, c *Config, s *selfplay.State) (*siblingLearner, error) {
	if c.Backup == 0 {
		return nil, errors.New("the saved run has a backup, but its settings have none")
	}
	base, err := s.AnyNet(basePrefix, len(r.Game.Features))
	if err != nil {
		return nil, err
	}
	l, err := newSiblings(r, c, base)
	if err != nil {
		return nil, err
	}
	l.fits = s.Backup.Fits
	return l, errors.Join(l.stage.SetTensors(s.Under(stagePrefix)), l.Restore(s, "", netPrefix, s.Steps))
}

func (l *siblingLearner) Save(s *selfplay.State) {
	s.AddNet(basePrefix, l.base)
	s.Add(stagePrefix, l.stage.Tensors())
	s.Steps = l.Value.Save(s, "", netPrefix)
	s.Backup = &selfplay.BackupState{Fits: l.fits}
}

// Gated implements selfplay.Learner: it begins a stage with the net as the base.
func (l *siblingLearner) Gated() error {
	l.base, l.stage.list, l.fits = l.Mean, nil, 0
	return l.Trainer.SetNet(l.base)
}

func (l *siblingLearner) Rollout() selfplay.Rollout {
	o := l.run.Options
	return selfplay.Rollout{
		Kind: siblingKind, Net: l.base, Steps: max(1, o.Rounds/siblingSteps), Late: o.Late, Versus: l.config.Versus,
		Ahead: l.run.UntilGate(1) - 1, // the base stands still
	}
}

// Fit implements selfplay.Learner. It takes a share of the decisions of the stage, so that the steps of a rollout grow
// with the decisions there are: in a stage of 200 rollouts, each is taken ten times in the mean.
func (l *siblingLearner) Fit() error {
	for _, slot := range l.run.Slots {
		if n, ok := slot.Notes.(*decisions); ok {
			l.stage.list = append(l.stage.list, n.list...)
		}
	}
	counts, shuffle := &l.run.Counts, l.run.Shuffle()
	take := shuffle.Perm(len(l.stage.list))[:int(math.Ceil(refit*float64(len(l.stage.list))))]
	loss, rows, rate := 0., 0, l.rate()
	for len(take) > 0 {
		n := min(l.config.perStep(), len(take))
		of, err := l.step(take[:n], func() bool { return shuffle.Uint32()&1 != 0 }, rate)
		if err != nil {
			return err
		}
		loss, rows, take = loss+of*float64(n), rows+n*l.config.Samples, take[n:]
	}
	if rows > 0 {
		counts.Loss = loss * float64(l.config.Samples) / float64(rows)
	}
	counts.Rows += rows
	l.fits++
	return l.Fitted(max(1, l.fits/meanOver))
}

// step takes one step of the optimiser on some decisions of the stage, half of them mirrored, and returns its loss.
func (l *siblingLearner) step(which []int, mirrored func() bool, rate float64) (float64, error) {
	k, n, game := l.config.Samples, len(l.run.Game.Features), l.run.Game
	x, y := l.Rows.X[:0], l.Rows.Y[:0]
	for _, i := range which {
		d, at := &l.stage.list[i], len(x)
		x, y = append(x, make([]float32, k*n)...), appendChoice(y, d.targets)
		if err := l.reader.rows(d, x[at:]); err != nil {
			return 0, err
		}
		if game.Mirror != nil && mirrored() {
			for ; at < len(x); at += n {
				game.Mirror(x[at : at+n])
			}
		}
	}
	l.Rows.X, l.Rows.Y = x, y
	// A last short batch takes a step of its own size, not a full one.
	return l.Trainer.Fit(x, y, rate*float64(len(which))/float64(l.config.perStep()))
}

// appendChoice appends with what probability each sibling is to be chosen, given their targets.
func appendChoice(y, targets []float32) []float32 {
	top, sum := slices.Max(targets), 0.
	for _, t := range targets {
		sum += math.Exp(float64(t-top) / sharpness)
	}
	for _, t := range targets {
		y = append(y, float32(math.Exp(float64(t-top)/sharpness)/sum))
	}
	return y
}

// rate falls in each stage to almost nothing, along half a cosine over the steps of the optimiser.
func (l *siblingLearner) rate() float64 {
	part := stagePart(l.run)
	return fall(l.config.RateBackup, l.config.RateBackup/50, 0, 1, part*part)
}

// stagePart is how much of the time from the last gate to the next has gone.
func stagePart(r *selfplay.Run) float64 {
	return min(1, max(0, r.Progress()*float64(r.Options.Gates)-float64(r.Counts.Gated)))
}
