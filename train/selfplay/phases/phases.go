// Package phases trains a network for a game of several seats. Two algorithms run one after the other, each for its
// share of the budget:
//
//	results  TD(λ) from random weights
//	backup   fitted value iteration, from the network of results
//
// A gate plays the network against the baseline evaluator, or other agents, and against the best network so far.
//
// # TD(λ) on afterstates
//
// In each step, every seat that learns plays the action whose afterstate the network values most. The features of
// that afterstate become a row. Its target is the λ-return: (1-λ) times the network's value of the seat's next
// afterstate plus λ times the target of the next row; the last target is the game's result. The rows of a rollout are
// shuffled, fitted once and dropped.
//
// # Fitted value iteration
//
// The network of the last gate stays fixed and plays two plies deep. The network in training is fitted to what a search
// of the fixed network finds one ply further. At the next gate, it becomes the fixed one.
//
// One more ply changes the values of all positions alike, but only differences between actions matter to play. In games
// with random draws, the rows are therefore the siblings of a decision: 24 pairs of actions of one seat in a position.
// The target of a sibling is the fixed network's value after the best third action, the mean over all draws. The loss
// compares siblings: it is the cross entropy between the softmax of the targets and that of the network's values, at
// one temperature. What all siblings share has no effect on it, and bad siblings hardly have one. Each row is fitted
// several times.
//
// In games of turns, the rows are single replies. Their targets are the fixed network's values plus the change that
// playing on makes, less the running mean of all changes (relative value iteration).
package phases

import (
	"errors"
	"fmt"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// Notes implements selfplay.Algorithm.
func (c *Config) Notes(r *selfplay.Run) map[string]string {
	output := "log odds of winning"
	if _, ok := r.Learner.(*lambdaLearner); !ok {
		output = "worth of a position, to be compared within a decision"
	}
	return map[string]string{
		"lambda": strconv.FormatFloat(c.Lambda, 'g', -1, 64),
		"games":  strconv.Itoa(r.Counts.Games), "output": output,
	}
}

// Start implements selfplay.Algorithm. If from is nil TD(λ) begins with random weights.
func (c *Config) Start(r *selfplay.Run, from *mlp.Net) (selfplay.Learner, error) {
	if _, err := c.opponents(r.Game); err != nil {
		return nil, err
	}
	if c.Backup == 0 || c.Results > 0 {
		return newLambda(r, c, from)
	}
	if from == nil {
		return nil, errors.New("a backup needs a net to start from: give --results a share above 0, or name one with --from")
	}
	return c.backup(r, from)
}

// backup begins fitted value iteration with a net.
func (c *Config) backup(r *selfplay.Run, from *mlp.Net) (interface {
	selfplay.Learner
	restore(*selfplay.State) error
}, error,
) {
	if hasDraws(r.Game) {
		return newSiblings(r, c, from)
	}
	return newBackup(r, c, from)
}

// Next implements selfplay.Algorithm.
func (c *Config) Next(r *selfplay.Run, last selfplay.Learner) (selfplay.Learner, error) {
	p := r.Progress()
	if l, ok := last.(*lambdaLearner); ok && c.Backup > 0 && p >= c.Results {
		b, err := c.backup(r, l.Net())
		if err := errors.Join(err, l.Close()); err != nil {
			return nil, err
		}
		return b, nil
	}
	return last, nil
}

// Restore implements selfplay.Algorithm.
func (c *Config) Restore(r *selfplay.Run, s *selfplay.State) (selfplay.Learner, error) {
	if _, err := c.opponents(r.Game); err != nil {
		return nil, err
	}
	if s.Version < firstVersion {
		return nil, errors.New("a run of an earlier trainer: continue it with the program that saved it")
	}
	if s.Backup != nil {
		return c.restoreBackup(r, s)
	}
	return restoreLambda(r, c, s)
}

// firstVersion is the first version of saved runs that have these algorithms.
const firstVersion = 3

// The kinds of policies.
const (
	siblingKind = "siblings"
	backupKind  = "backup"
	lambdaKind  = "lambda"
)

// Policy implements selfplay.Algorithm.
func (c *Config) Policy(g *games.Game, ro *selfplay.Rollout) (selfplay.Policy, error) {
	s := afterstate.New(g, ro.Net, c.DeepWidth)
	for _, name := range c.OpponentNames() {
		e, err := g.Opponent(name)
		if err != nil {
			return nil, err
		}
		s.Opponents = append(s.Opponents, e)
	}
	switch ro.Kind {
	case siblingKind:
		return newSiblingPolicy(c, s)
	case backupKind:
		return &backupPolicy{policy: policy{s, c}, scratch: g.Rules.New(g.Rules.MinSeats)}, nil
	case lambdaKind:
		return &lambdaPolicy{policy{s, c}}, nil
	}
	return nil, fmt.Errorf("no policy of kind %q: want %s, %s or %s", ro.Kind, siblingKind, backupKind, lambdaKind)
}

// Stage implements selfplay.Algorithm.
func (c *Config) Stage(r *selfplay.Run) string {
	if _, ok := r.Learner.(*lambdaLearner); ok {
		return "results of games"
	}
	first := int(c.Results*float64(c.Gates) + 1e-9) // gates before the backup
	of := max(1, c.Gates-first)
	return fmt.Sprintf("search backup %d of %d", min(max(1, r.Counts.Gated-first+1), of), of)
}
