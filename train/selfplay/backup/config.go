package backup

import (
	"cmp"
	"errors"
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/task"
)

// A Config is the settings of a backup.
type Config struct {
	Backup     float64 // share of the budget, at its beginning
	Samples    int     // positions per decision that are searched further and learned from
	Look       int     // plies that each of them is searched further; 0 is 1
	RateBackup float64 // learning rate at the beginning of a stage

	width  int     // first choices of a decision that are searched two plies deep
	versus float64 // share of games with the baseline in one seat
}

// With returns the settings with those that other learners have too.
func (c Config) With(width int, versus float64) Config {
	c.width, c.versus = width, versus
	return c
}

// Check reports the first setting that is out of range. Without a backup only its share counts.
func (c Config) Check(g *task.Game) error {
	if err := selfplay.CheckShare("backup", c.Backup); err != nil || c.Backup == 0 {
		return err
	}
	if c.Look < 0 || c.Look > 64 {
		return fmt.Errorf("look is %d, want 1 to 64 plies", c.Look)
	}
	if g.Outcomes < 1 && !takesTurns(g) {
		return errors.New("no backup: the game has no draws that a search can enumerate, " +
			"nor two seats that take turns; use --backup 0")
	}
	return cmp.Or(selfplay.CheckCount("samples", c.Samples, 64), selfplay.CheckRate("rate backup", c.RateBackup))
}

// FirstNet is the net that a backup starts from by default: the game's baseline evaluator.
func FirstNet(g *task.Game, o selfplay.Options) (*mlp.Net, error) {
	if g.Start == nil {
		return nil, errors.New("a backup needs a net to start from: name one with --from")
	}
	if len(o.Hidden) != 1 {
		return nil, fmt.Errorf("%d hidden layers: the first net of a backup has one hidden layer", len(o.Hidden))
	}
	return g.Start(o.Hidden[0], o.Seed)
}

// takesTurns reports whether g is a game in which two seats take turns.
func takesTurns(g *task.Game) bool { return g.Rules.Rows == 1 && g.Rules.MinSeats == 2 }
