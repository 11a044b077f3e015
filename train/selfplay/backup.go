package selfplay

import (
	"errors"
	"math"
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/rows"
	"blockyard/train/task"
	"blockyard/train/trainer"
)

// A backup is a share of the budget in which a net learns what a search with the net
// before it finds, stage by stage: fitted value iteration. The base stands still for a
// stage, plays two choices deep and looks a third one ahead; the net is fitted to the
// base's values plus what the third choice brings. A gate ends the stage: then the net is
// the base.
//
// A choice more brings something in every position, and only differences matter to play,
// so what it brings on average is taken off: relative value iteration.
type backup struct {
	base  *mlp.Net
	drift float64 // running mean of what a choice more brings
	fits  int     // of this stage
}

const (
	backupPasses  = 2   // over each stretch
	backupRounds  = 16  // a stretch has a 16th of the usual rounds: its rows cost a search
	backupMost    = 1.5 // how far a target may be from the base's value
	backupOutlier = 3   // a gain beyond it counts as this in the drift
	driftOver     = 200 // fits the drift is a mean of
)

// backedUp reports whether there is a backup at the progress p.
func (c Config) backedUp(p float64) bool { return c.Backup > 0 && p < c.Backup }

// duel reports whether g is a game in which two seats take turns.
func duel(g *task.Game) bool { return g.Rules.Rows == 1 && g.Rules.MinSeats == 2 }

// checkBackup refuses a backup for a game or a configuration that has none.
func (c Config) checkBackup(g *task.Game) error {
	switch {
	case c.Backup == 0:
		return nil
	case g.Outcomes < 1 && !duel(g):
		return errors.New("no backup: the game has no draws that a look ahead can go through, nor two seats that take turns")
	case c.Warm > 0:
		return errors.New("a backup begins with a net that plays: no warm start before it")
	}
	return nil
}

// first is the net a run with a backup starts from.
func first(g *task.Game, c Config) (*mlp.Net, error) {
	if err := errors.Join(c.check(), c.checkBackup(g)); err != nil {
		return nil, err
	}
	if g.Start == nil {
		return nil, errors.New("a backup needs a net to start from")
	}
	if len(c.Hidden) != 1 {
		return nil, errors.New("the first net of a backup has one hidden layer")
	}
	return g.Start(c.Hidden[0], c.Seed)
}

// loss is that of the net of values. Values that are backed up are no chances.
func (c Config) loss() trainer.Loss {
	if c.Backup > 0 {
		return trainer.Square
	}
	return trainer.Logistic
}

// BacksUp reports whether Net's outputs are values by search, which only compare
// positions of one decision.
func (r *Run) BacksUp() bool { return r.backup != nil }

// study turns the insights of all slots into rows with targets.
func (r *Run) study() {
	b := r.backup
	r.rows.Cut(0)
	var gains []float32
	sum := 0.0
	for _, s := range r.slots {
		r.Counts.Games += s.ended
		r.Counts.Moves += s.moves
		r.rows.X = append(r.rows.X, s.seen.x...)
		r.rows.Y = append(r.rows.Y, s.seen.base...)
		gains = append(gains, s.seen.gain...)
	}
	for i, g := range gains {
		gains[i] = min(max(g, -backupOutlier), backupOutlier)
		sum += float64(gains[i])
	}
	if len(gains) > 0 {
		b.drift += (sum/float64(len(gains)) - b.drift) / float64(min(b.fits+1, driftOver))
	}
	for i, g := range gains {
		r.rows.Y[i] += min(max(g-float32(b.drift), -backupMost), backupMost)
	}
}

// fitBackup fits the rows, and moves the mean of the nets on.
func (r *Run) fitBackup() error {
	shuffle := rand.New(rand.NewPCG(r.Config.Seed^rowStream, uint64(r.Counts.Iterations)))
	for pass := range backupPasses {
		loss, err := r.rows.Pass(r.trainer, shuffle, r.Config.Batch, r.backupRate())
		if err != nil {
			return err
		}
		if pass == 0 && r.rows.Len() > 0 {
			r.Counts.Loss = loss
		}
	}
	r.Counts.Rows += r.rows.Len()
	now, err := r.trainer.Net()
	if err != nil {
		return err
	}
	r.backup.fits++
	r.net, err = mean(r.net, now, r.backup.fits, r.Config.Mean)
	return err
}

// backupRate falls in each stage to almost nothing, along half a cosine.
func (r *Run) backupRate() float64 {
	part := min(1, max(0, r.Progress()*float64(r.Config.Gates)-float64(r.Counts.Gated)))
	return r.Config.RateBackup * (0.02 + 0.98*(1+math.Cos(math.Pi*part))/2)
}

// rebase begins a stage with the net as the base.
func (r *Run) rebase() error {
	r.backup = &backup{base: r.net}
	return r.trainer.SetNet(r.net)
}

// settle ends the backup: the net goes on as one that judges by results.
func (r *Run) settle() error {
	t, err := trainer.New(trainer.Config{Sizes: sizes(r.Game, r.Config), Batch: r.Config.Batch, Loss: trainer.Logistic, Seed: r.Config.Seed})
	if err != nil {
		return err
	}
	if err := errors.Join(r.trainer.Close(), t.SetNet(r.net)); err != nil {
		return err
	}
	r.trainer, r.backup = t, nil
	r.rows = rows.Rows{Game: r.Game}
	return nil
}
