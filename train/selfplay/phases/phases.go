// Package phases trains a network for a game of several seats. Two algorithms run one after the other, each for its
// share of the budget: TD(λ) on afterstates, from the results of games and random weights, and then a backup, fitted
// value iteration from that network. A gate plays the network against the baseline evaluator, or other agents, and
// against the best network so far. train/README.md describes both algorithms.
//
// In a backup the network of the last gate, the base, stays fixed and plays two plies deep. The network in training is
// fitted to what a search of the base finds one ply further; at the next gate, it becomes the base. In games with
// random draws, rows are the siblings of a decision, whose loss is the cross entropy between the softmax of the targets
// and that of the values. In games of turns, they are single replies, whose targets are the base's values plus the
// change that playing on makes, less the running mean of all changes.
package phases

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/network"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// Notes implements selfplay.Algorithm: λ, the number of games, and what an output of the network means.
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

// learner begins TD(λ) or a backup with a net; only TD(λ) can do without one.
func (c *Config) learner(r *selfplay.Run, backup bool, from *mlp.Net) (selfplay.Learner, error) {
	var n network.Config
	siblings := backup && hasDraws(r.Game)
	switch {
	case backup && from == nil:
		return nil, errors.New("a backup needs a net to start from: give --results a share above 0, or name one with --from")
	case siblings:
		n = network.Config{Loss: network.Choice, Batch: c.perStep() * c.Samples, Group: c.Samples, Temperature: sharpness}
	case backup:
		n.Loss = network.Square
	}
	v, err := selfplay.NewValue(r, n, netPrefix, from)
	s := staged{Value: v, config: c, base: from}
	switch {
	case siblings:
		return &siblingLearner{s, newSiblingReader(r.Game), decisions{game: r.Game, siblings: c.Samples}}, err
	case backup:
		return &backupLearner{staged: s}, err
	}
	return &lambdaLearner{v, c}, err
}

// Start implements selfplay.Algorithm. If from is nil TD(λ) begins with random weights.
func (c *Config) Start(r *selfplay.Run, from *mlp.Net, saved *selfplay.State) (selfplay.Learner, error) {
	if _, err := c.opponents(r.Game); err != nil {
		return nil, err
	}
	backup := c.Backup > 0 && c.Results == 0
	if saved != nil {
		prefix := netPrefix
		switch backup = saved.Backup != nil; {
		case backup && c.Backup == 0:
			return nil, errors.New("the saved run has a backup, but its settings have none")
		case backup:
			prefix = basePrefix
		}
		var err error
		if from, err = saved.Net(prefix, len(r.Game.Features)); err != nil {
			return nil, err
		}
	}
	return c.learner(r, backup, from)
}

// Next implements selfplay.Algorithm: the learner of results gives way to that of the search backup after the share
// Results of the run.
func (c *Config) Next(r *selfplay.Run, last selfplay.Learner) (selfplay.Learner, error) {
	if l, ok := last.(*lambdaLearner); ok && c.Backup > 0 && r.Progress() >= c.Results {
		next, err := c.learner(r, true, l.Net())
		return next, errors.Join(err, l.Close())
	}
	return last, nil
}

const (
	siblingKind = "siblings"
	backupKind  = "backup"
	lambdaKind  = "lambda"
)

// Policy implements selfplay.Algorithm, for the kinds of rollouts of the three learners.
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
		e, err := g.Evaluator(ro.Net)
		if _, ok := e.(search.LeafEvaluator); err == nil && !ok {
			err = errors.New("the evaluator of " + g.Rules.Name + " values no leaves")
		}
		return &siblingPolicy{policy: policy{s, c}, after: g.Rules.New(g.Rules.MinSeats)}, err
	case backupKind:
		return &backupPolicy{policy: policy{s, c}, scratch: g.Rules.New(g.Rules.MinSeats)}, nil
	case lambdaKind:
		return &lambdaPolicy{policy{s, c}}, nil
	}
	return nil, fmt.Errorf("no policy of kind %q: want %s, %s or %s", ro.Kind, siblingKind, backupKind, lambdaKind)
}

// Stage implements selfplay.Algorithm: the results of games, or which gate of the search backup comes next.
func (c *Config) Stage(r *selfplay.Run) string {
	if _, ok := r.Learner.(*lambdaLearner); ok {
		return "results of games"
	}
	first := int(c.Results*float64(c.Lengths()) + 1e-9) // gates before the backup
	of := max(1, c.Gates-first)
	return fmt.Sprintf("search backup %d of %d", min(max(1, r.Counts.Gated-first+1), of), of)
}

// A policy is what the policies of all kinds have: a search, and the settings.
type policy struct {
	*afterstate.Search
	config *Config
}

func (p *policy) Start(ro *selfplay.Rollout) { p.Net = ro.Net.Clone() }
func (p *policy) End(*selfplay.Slot)         {}
func (p *policy) Cut(*selfplay.Slot)         {}

// opponent is the choice of a seat that an opponent plays against the learner.
func (p *policy) opponent(s *selfplay.Slot, seat int) env.Action {
	i := p.Opponent(s.State, seat, int(s.Opponent[seat]))
	if i >= 0 && s.Chance(p.config.Explore) {
		i = p.Random(i, &s.Rand)
	}
	return p.Action(i)
}

// A staged is what backups share: a net in training, and the base, which plays, values, and stands still in a stage.
type staged struct {
	*selfplay.Value
	config *Config
	base   *mlp.Net
	fits   int // of this stage
}

func (l *staged) Restore(s *selfplay.State) error {
	l.fits = s.Backup.Fits
	return l.Value.Restore(s)
}

func (l *staged) Save(s *selfplay.State) {
	s.Add(basePrefix, l.base.Tensors())
	l.Value.Save(s)
	s.Backup = &selfplay.BackupState{Fits: l.fits}
}

// Gated begins a stage from the net or, if a sequential test has decided against it, from the best net so far; without
// one, a gate is too short to tell.
func (l *staged) Gated() error {
	l.base, l.fits = l.Mean, 0
	best := l.Run.Best
	if l.config.GateElo > 0 && best != nil && slices.Equal(network.Sizes(best), network.Sizes(l.base)) {
		l.base = best
	}
	return l.Trainer.SetNet(l.base)
}

const shorter = 16 // how many times fewer steps than one of TD(λ) a rollout has: each of its decisions costs a search

// rollout is one by policies of a kind.
func (l *staged) rollout(kind string) selfplay.Rollout {
	o := l.Run.Options
	return selfplay.Rollout{
		Kind: kind, Net: l.base, Steps: max(1, o.Rounds/shorter), Late: o.Late, Versus: l.config.Versus,
		Ahead: l.Run.UntilGate() - 1, // the base stands still
	}
}
