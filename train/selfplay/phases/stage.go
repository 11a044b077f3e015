package phases

import (
	"fmt"

	"blockyard/train/selfplay"
)

// Stage implements selfplay.Algorithm.
func (c *Config) Stage(r *selfplay.Run) string {
	switch l := r.Learner.(type) {
	case *backupLearner:
		first := int(c.Results*float64(c.Gates) + 1e-9) // gates before the backup
		of := max(1, int(c.backupEnd()*float64(c.Gates)+1e-9)-first)
		return fmt.Sprintf("search backup %d of %d", min(max(1, r.Counts.Gated-first+1), of), of)
	case *lambdaLearner:
		switch {
		case l.warm():
			return "warm start"
		case r.Progress() < c.backupEnd() && c.members() > 1:
			return fmt.Sprintf("results of games, network %d of %d", len(l.before)+1, c.members())
		case r.Progress() < c.backupEnd():
			return "results of games"
		}
		return "TD(λ)"
	}
	return "actor-critic"
}
