// Package phases trains a net for a game of several seats. Its learners have a share of the
// budget each, one after the other:
//
//	backup   fitted value iteration, from the baseline evaluator as a net
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
// So the average change is subtracted: relative value iteration.
package phases

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/task"
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
// evaluator as a net, and TD(λ) with random weights.
func (c *Config) Start(r *selfplay.Run, from *mlp.Net) (selfplay.Learner, error) {
	if c.Backup == 0 {
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
func (c *Config) firstNet(g *task.Game) (*mlp.Net, error) {
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
	if b, ok := last.(*backupLearner); ok && p >= c.Backup {
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
	if s.Backup != nil {
		return restoreBackup(r, c, s)
	}
	critic, err := newLambda(r, c, nil)
	if err != nil {
		return nil, err
	}
	if err := critic.Restore(s, "", netPrefix, s.Steps); err != nil || s.Actor == nil {
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
func (c *Config) Policy(g *task.Game, ro *selfplay.Rollout) (selfplay.Policy, error) {
	switch ro.Kind {
	case backupKind:
		return newBackupPolicy(g, c, ro.Net), nil
	case lambdaKind:
		return newLambdaPolicy(g, c, ro.Net), nil
	case actorKind:
		return newActorPolicy(g, c, ro.Net), nil
	}
	return nil, fmt.Errorf("no policy of kind %q: want %s, %s or %s", ro.Kind, backupKind, lambdaKind, actorKind)
}

const gateStream = 0x67617465

// Gate implements selfplay.Algorithm. It plays the net against the baseline evaluator and
// against the best net so far, in pairs of games on seeds used for nothing else, the same for
// every gate. It keeps the better net.
func (c *Config) Gate(ctx context.Context, r *selfplay.Run, p *selfplay.Point) (bool, error) {
	net, ply := r.Net().Clone(), c.GatePly
	opponents := []match.Player{Hand(r.Game, ply)}
	if r.Best != nil {
		opponents = append(opponents, Net(r.Game, r.Best, ply))
	}
	p.VersusBest, p.Kept = 0.5, true
	for i, b := range opponents {
		res, err := c.games(ctx, r, i, len(opponents), match.Match{
			Rules: r.Game.Rules, Units: c.GatePairs, Workers: r.Workers,
			Seed: env.Derive(c.Seed^gateStream, uint64(i)), A: Net(r.Game, net, ply), B: b,
		})
		if err != nil || ctx.Err() != nil {
			return false, err
		}
		if i == 0 {
			p.Games, p.Score, p.Low, p.High = res.Games, res.Score, res.Low, res.High
		} else {
			p.VersusBest = res.Score
			p.Kept = p.VersusBest > 0.5
		}
	}
	return true, nil
}

// games plays the i-th of n matches of a gate, for its part of the gate's time at most.
func (c *Config) games(ctx context.Context, r *selfplay.Run, i, n int, m match.Match) (match.TwoPlayerResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := r.GateTimer(1 / float64(n))
	m.Progress = func(games int, _ string) {
		if r.OnGate != nil {
			r.OnGate(i*2*m.Units+games, n*2*m.Units)
		}
		if over() {
			stop()
		}
	}
	return m.TwoPlayer(ctx)
}

// Net is the player that evaluates with net and searches ply plies.
func Net(g *task.Game, net *mlp.Net, ply int) match.Player {
	return match.Player{Name: "learned", New: func(uint64) (env.Agent, error) {
		e, err := g.Learned(net.Clone())
		if err != nil {
			return nil, err
		}
		return search.New(g.Rules, e, search.Options{Ply: ply, Outcomes: g.Outcomes})
	}}
}

// Hand is the player that evaluates with the game's baseline.
func Hand(g *task.Game, ply int) match.Player {
	return match.Player{Name: "hand", New: func(uint64) (env.Agent, error) {
		return search.New(g.Rules, g.Hand(), search.Options{Ply: ply, Outcomes: g.Outcomes})
	}}
}
