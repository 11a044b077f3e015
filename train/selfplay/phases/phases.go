// Package phases trains a net for a game of several seats. Its learners have a share of the
// budget each, one after the other:
//
//	results  TD(λ) from random weights, before a backup; of several nets, one after the other, for an ensemble
//	backup   fitted value iteration, from the net of the results, or from the baseline evaluator as a net
//	lambda   TD(λ), at first with the baseline evaluator playing (the warm start)
//	actor    policy gradient, with the net of lambda as its critic
//
// Each begins with the net of the one before. A gate plays the net against the baseline
// evaluator and against the best net so far.
//
// # TD(λ) on afterstates
//
// In each step every seat that learns plays the afterstate that the net values most. The
// features of that afterstate become a row. Its target is the λ-return: (1-λ) times the
// net's value of the seat's next afterstate plus λ times the next row's target, ending in
// the game's result. The rows of a rollout are shuffled, fitted once and dropped.
//
// In the warm start the baseline evaluator plays all seats. Its opinion of a position,
// scaled to log odds of winning, is part of the targets, and some choices that it did not
// make are learned as well, by its opinion alone.
//
// # Policy gradient
//
// The actor is a net that learns to choose. The net of TD(λ) is its critic: it learns values
// from the same games and says how the choices turned out.
//
// For each decision the actor draws two options a and b from π, the softmax of its outputs z
// over the temperature, and plays a. The advantage A is the λ-return after a less the
// critic's value of the seat's position before it. Both options are fitted by the
// logistic loss softplus(z) − y·z, whose gradient by z is σ(z) − y, with the targets
//
//	y(a) = σ(z(a)) + step·A    y(b) = σ(z(b)) − step·A
//
// At the weights that played, the gradient is −step·A·(∇z(a) − ∇z(b)), and the mean of
// A·(∇z(a) − ∇z(b)) over a and b is that of A·(∇z(a) − Σ π∇z): the temperature times the
// policy gradient. Away from these weights the loss pulls both outputs back to where
// they were, so that the passes over one rollout go no further than its advantages.
//
// # Fitted value iteration
//
// The net learns what a search with the net before it finds, stage by stage. The base net
// stands still for a stage. It plays two plies deep; the learner's net is fitted to the
// base's values plus what searching one ply further changes. A gate ends the stage: then
// the learner's net becomes the base.
//
// A ply more changes something in every position, and only differences matter to play.
// So the average change is subtracted: relative value iteration. The average is a running one
// over all positions or, WithinDecision, that of the samples of one decision.
//
// With LogOdds, values are log odds of winning: means over draws are of probabilities, and the
// loss is logistic, so that positions that are all but decided count little.
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
