package phases

import (
	"math"

	"blockyard/train/selfplay"
)

const (
	passes      = 2   // over the rows of each rollout
	maxChange   = 1.5 // how far a target may be from the base's value
	outlier     = 3   // a change beyond it counts as this in the average
	averageOver = 200 // fits that the average change is taken over
)

// A backupLearner learns from single replies, in a game of turns.
type backupLearner struct {
	staged
	average float64 // running mean of what a ply more changes
}

func (l *backupLearner) Restore(s *selfplay.State) error {
	l.average = s.Backup.Average
	return l.staged.Restore(s)
}

func (l *backupLearner) Save(s *selfplay.State) {
	l.staged.Save(s)
	s.Backup.Average = l.average
}

func (l *backupLearner) Gated() error {
	l.average = 0
	return l.staged.Gated()
}

func (l *backupLearner) Rollout() selfplay.Rollout { return l.rollout(backupKind) }

func (l *backupLearner) Fit() error {
	l.collect()
	if err := l.Learn(passes, l.rate()); err != nil {
		return err
	}
	l.Run.Counts.Rows += l.Rows.Len()
	l.fits++
	return l.Fitted(l.fits)
}

// collect turns the samples of all slots into rows with targets.
func (l *backupLearner) collect() {
	l.Rows.Cut(0)
	var changes []float32
	sum := 0.0
	for _, slot := range l.Run.Slots {
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
	return l.config.RateBackup * (0.02 + 0.98*(1+math.Cos(math.Pi*l.part()))/2)
}
