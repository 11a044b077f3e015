package phases

import (
	"errors"
	"math"
	"slices"

	"blockyard/train/selfplay"
)

const (
	sharpness = 0.2 // temperature of the softmax over siblings, in the net's log odds
	meanOver  = 8   // weights are averaged over this part of a stage, its last
)

// A siblingLearner learns from the decisions of its stage.
type siblingLearner struct {
	staged
	reader *siblingReader
	stage  decisions // all so far
}

// perStep is how many decisions a step of the optimiser takes.
func (c *Config) perStep() int { return max(1, c.Batch/c.Samples) }

func (l *siblingLearner) Restore(s *selfplay.State) error {
	return errors.Join(l.stage.SetTensors(s.Under(stagePrefix)), l.staged.Restore(s))
}

func (l *siblingLearner) Save(s *selfplay.State) {
	s.Add(stagePrefix, l.stage.Tensors())
	l.staged.Save(s)
}

func (l *siblingLearner) Gated() error {
	l.stage.list = nil
	return l.staged.Gated()
}

func (l *siblingLearner) Rollout() selfplay.Rollout { return l.rollout(siblingKind) }

// refit is the share of the decisions of the stage so far that each fit takes, drawn at random. Runs that were saved
// without Often took a tenth; a budget of time does not say how long a stage is.
func (c *Config) refit() float64 {
	if rollouts := c.Iterations / c.Gates; rollouts > 0 && c.Often > 0 {
		return min(1, float64(2*c.Often)/float64(rollouts))
	}
	return 0.1
}

// Fit implements selfplay.Learner. It takes a share of the decisions of the stage, so that the steps of a rollout grow
// with the decisions there are.
func (l *siblingLearner) Fit() error {
	for _, slot := range l.Run.Slots {
		if n, ok := slot.Notes.(*decisions); ok {
			l.stage.list = append(l.stage.list, n.list...)
		}
	}
	counts, shuffle := &l.Run.Counts, l.Run.Shuffle()
	take := shuffle.Perm(len(l.stage.list))[:int(math.Ceil(l.config.refit()*float64(len(l.stage.list))))]
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
	k, n, game := l.config.Samples, len(l.Run.Game.Features), l.Run.Game
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
	part := l.part()
	return fall(l.config.RateBackup, l.config.RateBackup/50, 0, 1, part*part)
}
