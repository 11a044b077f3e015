// Package phases trains a network for a game of several seats. Up to four algorithms run one after the other, each
// for its share of the budget and each starting from the network of the one before:
//
//	results  TD(λ) from random weights; for an ensemble, of several networks one after the other
//	backup   fitted value iteration, from the network of results, or from the baseline evaluator written as a network
//	lambda   TD(λ), at first with the baseline evaluator playing (the warm start)
//	actor    policy gradient, with the network of lambda as its critic
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
// In the warm start the baseline evaluator plays all seats. Its value of a position, scaled to log odds of winning,
// is part of the target. Some actions that it did not choose become rows too, with its value alone as the target.
//
// # Policy gradient
//
// The actor is a network that learns to choose. Its critic is the network of TD(λ), which learns values from the same
// games.
//
// For each decision the actor draws two actions a and b from π, the softmax of its outputs z over the temperature,
// and plays a. The advantage A is the λ-return after a minus the critic's value of the seat's position before it.
// Both actions are fitted by the logistic loss softplus(z) − y·z, whose gradient by z is σ(z) − y, with the targets
//
//	y(a) = σ(z(a)) + step·A    y(b) = σ(z(b)) − step·A
//
// At the weights that played, the gradient is −step·A·(∇z(a) − ∇z(b)), and the mean of A·(∇z(a) − ∇z(b)) over a and b
// is that of A·(∇z(a) − Σ π∇z): the temperature times the policy gradient. Away from these weights the loss pulls
// both outputs back, so that the fit of one rollout goes no further than its advantages.
//
// # Fitted value iteration
//
// The network of the last gate stays fixed and plays two plies deep. The network in training is fitted to the fixed
// network's values plus the change that a search of one more ply makes. At the next gate, it becomes the fixed one.
//
// One more ply changes the values of all positions alike, but only differences between actions matter to play. So the
// mean change is subtracted (relative value iteration): a running mean over all positions or, with WithinDecision,
// the mean of the samples of one decision.
//
// With LogOdds, values are log odds of winning: means over draws are means of probabilities, and the loss is
// logistic, so that positions that are nearly decided count little.
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
	switch r.Learner.(type) {
	case *backupLearner:
		output = "worth of a position, to be compared within a decision"
	case *actorLearner:
		output = fmt.Sprintf("preference; choices were drawn from its softmax at temperature %g", c.Temperature)
	}
	return map[string]string{
		"lambda": strconv.FormatFloat(c.Lambda, 'g', -1, 64),
		"games":  strconv.Itoa(r.Counts.Games), "output": output,
	}
}

// Start implements selfplay.Algorithm. If from is nil a backup begins with the baseline
// evaluator as a net, unless results come before it, and TD(λ) with random weights.
func (c *Config) Start(r *selfplay.Run, from *mlp.Net) (selfplay.Learner, error) {
	if _, err := c.opponents(r.Game); err != nil {
		return nil, err
	}
	if c.Backup == 0 || c.Results > 0 {
		return newLambda(r, c, from)
	}
	if from == nil {
		var err error
		if from, err = c.firstNet(r.Game); err != nil {
			return nil, err
		}
	}
	return newBackup(r, c, from)
}

// firstNet is the game's baseline evaluator as a net.
func (c *Config) firstNet(g *games.Game) (*mlp.Net, error) {
	if g.Start == nil {
		return nil, errors.New("a backup needs a net to start from: name one with --from")
	}
	if len(c.Hidden) != 1 {
		return nil, fmt.Errorf("%d hidden layers: the first net of a backup has one hidden layer", len(c.Hidden))
	}
	return g.Start(c.Hidden[0], c.Seed)
}

// Next implements selfplay.Algorithm.
func (c *Config) Next(r *selfplay.Run, last selfplay.Learner) (selfplay.Learner, error) {
	p := r.Progress()
	if l, ok := last.(*lambdaLearner); ok && p < c.Results {
		return l.next()
	}
	if l, ok := last.(*lambdaLearner); ok && p >= c.Results && p < c.backupEnd() {
		b, err := newBackup(r, c, l.Net())
		if err := errors.Join(err, l.Close()); err != nil {
			return nil, err
		}
		return b, nil
	}
	if b, ok := last.(*backupLearner); ok && p >= c.backupEnd() {
		critic, err := newLambda(r, c, b.Net())
		if err := errors.Join(err, b.Close()); err != nil {
			return nil, err
		}
		last = critic
	}
	if critic, ok := last.(*lambdaLearner); ok && c.Actor > 0 && p >= c.actorFrom() {
		return newActor(r, c, critic)
	}
	return last, nil
}

// Restore implements selfplay.Algorithm.
func (c *Config) Restore(r *selfplay.Run, s *selfplay.State) (selfplay.Learner, error) {
	if _, err := c.opponents(r.Game); err != nil {
		return nil, err
	}
	if s.Backup != nil {
		return restoreBackup(r, c, s)
	}
	critic, err := restoreLambda(r, c, s)
	if err != nil || s.Actor == nil {
		return critic, err
	}
	return restoreActor(r, c, critic, s)
}

// The kinds of policies.
const (
	backupKind = "backup"
	lambdaKind = "lambda"
	actorKind  = "actor"
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
	case backupKind:
		return newBackupPolicy(c, s), nil
	case lambdaKind:
		return newLambdaPolicy(c, s), nil
	case actorKind:
		return newActorPolicy(c, s), nil
	}
	return nil, fmt.Errorf("no policy of kind %q: want %s, %s or %s", ro.Kind, backupKind, lambdaKind, actorKind)
}

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
