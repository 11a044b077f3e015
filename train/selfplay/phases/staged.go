package phases

import (
	"errors"
	"slices"

	"blockyard/agents/mlp"
	"blockyard/train/network"
	"blockyard/train/selfplay"
)

// A staged is what the learners of a backup share: a net in training, and the base, which plays, says what the targets
// are, and stands still until a gate ends the stage.
type staged struct {
	*selfplay.Value
	config *Config
	base   *mlp.Net
	fits   int // of this stage
}

// newStaged begins with a net.
func newStaged(r *selfplay.Run, c *Config, n network.Config, from *mlp.Net) (staged, error) {
	v, err := selfplay.NewValue(r, n, netPrefix, from)
	return staged{Value: v, config: c, base: from}, err
}

// restoreBackup returns the learner whose Save made a state.
func (c *Config) restoreBackup(r *selfplay.Run, s *selfplay.State) (selfplay.Learner, error) {
	if c.Backup == 0 {
		return nil, errors.New("the saved run has a backup, but its settings have none")
	}
	base, err := s.AnyNet(basePrefix, len(r.Game.Features))
	if err != nil {
		return nil, err
	}
	l, err := c.backup(r, base)
	if err != nil {
		return nil, err
	}
	return l, l.restore(s)
}

func (l *staged) restore(s *selfplay.State) error {
	l.fits = s.Backup.Fits
	return l.Restore(s)
}

func (l *staged) Save(s *selfplay.State) {
	s.AddNet(basePrefix, l.base)
	l.Value.Save(s)
	s.Backup = &selfplay.BackupState{Fits: l.fits}
}

// Gated implements selfplay.Learner: it begins a stage with the net as the base, or with the best net so far if a
// sequential test has decided against the net: what it learned is lost then, and other games are played. Without that
// test a gate is too short to tell.
func (l *staged) Gated() error {
	l.base, l.fits = l.Mean, 0
	best := l.Run.Best
	if l.config.GateElo > 0 && best != nil && slices.Equal(network.Sizes(best), network.Sizes(l.base)) {
		l.base = best
	}
	return l.Trainer.SetNet(l.base)
}

// shorter is how many times fewer steps than one of TD(λ) a rollout has: each of its decisions costs a search.
const shorter = 16

// rollout is one by policies of a kind.
func (l *staged) rollout(kind string) selfplay.Rollout {
	o := l.Run.Options
	return selfplay.Rollout{
		Kind: kind, Net: l.base, Steps: max(1, o.Rounds/shorter), Late: o.Late, Versus: l.config.Versus,
		Ahead: l.Run.UntilGate(1) - 1, // the base stands still
	}
}

// part is how much of the time from the last gate to the next has gone.
func (l *staged) part() float64 {
	r := l.Run
	return min(1, max(0, r.Progress()*float64(r.Options.Gates)-float64(r.Counts.Gated)))
}
