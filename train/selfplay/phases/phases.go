// Package phases trains a net for a game of several seats. Its learners have a share of the
// budget each, one after the other:
//
//	backup   fitted value iteration, from the baseline evaluator as a net
//	lambda   TD(λ), at first with the baseline evaluator playing (the warm start)
//	actor    policy gradient, with the net of lambda as its critic
//
// Each begins with the net of the one before. A gate plays the net against the baseline
// evaluator and against the best net so far.
package phases

import (
	"fmt"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/actor"
	"blockyard/train/selfplay/backup"
	"blockyard/train/selfplay/lambda"
	"blockyard/train/task"
)

// algorithm implements selfplay.Algorithm.
type algorithm struct{ config *Config }

// New begins a run from a net of the same sizes. If from is nil it begins from the baseline
// evaluator as a net if there is to be a backup, else from random weights.
func New(g *task.Game, c Config, from *mlp.Net, workers int) (*selfplay.Run, error) {
	return selfplay.New(g, algorithm{&c}, from, workers)
}

// Resume goes on with a saved run.
func Resume(g *task.Game, path string, workers int) (*selfplay.Run, error) {
	return selfplay.Resume(g, path, algorithm{new(Config)}, workers)
}

// Config implements selfplay.Algorithm.
func (a algorithm) Config() any { return a.config }

// Options implements selfplay.Algorithm.
func (a algorithm) Options() selfplay.Options { return a.config.Options }

// Check implements selfplay.Algorithm.
func (a algorithm) Check(g *task.Game) error { return a.config.Check(g) }

// Notes implements selfplay.Algorithm.
func (a algorithm) Notes(r *selfplay.Run) map[string]string {
	output := "log odds of winning"
	switch r.Learner.(type) {
	case *backup.Learner:
		output = "worth of a position, to be compared within a decision"
	case *actor.Learner:
		output = fmt.Sprintf("preference; choices were drawn from its softmax at temperature %g", a.config.Temperature)
	}
	return map[string]string{
		"lambda": strconv.FormatFloat(a.config.Lambda, 'g', -1, 64),
		"games":  strconv.Itoa(r.Counts.Games), "output": output,
	}
}

// GameStream implements selfplay.Algorithm.
func (a algorithm) GameStream() uint64 { return 0x67616d65 }

// Start implements selfplay.Algorithm.
func (a algorithm) Start(r *selfplay.Run, from *mlp.Net) (selfplay.Learner, error) {
	c := a.config
	if c.Backup == 0 {
		return lambda.New(r, a.lambda(), from)
	}
	if from == nil {
		var err error
		if from, err = backup.FirstNet(r.Game, c.Options); err != nil {
			return nil, err
		}
	}
	return backup.New(r, a.backup(), from)
}

// Next implements selfplay.Algorithm.
func (a algorithm) Next(r *selfplay.Run, last selfplay.Learner) (selfplay.Learner, error) {
	c, p := a.config, r.Progress()
	if b, ok := last.(*backup.Learner); ok && p >= c.Backup {
		critic, err := lambda.New(r, a.lambda(), b.Net())
		if err != nil {
			return nil, err
		}
		if err := b.Close(); err != nil {
			return nil, err
		}
		last = critic
	}
	if critic, ok := last.(*lambda.Learner); ok && c.Actor > 0 && p >= c.actorFrom() {
		return actor.New(r, a.actor(), critic)
	}
	return last, nil
}

// Restore implements selfplay.Algorithm.
func (a algorithm) Restore(r *selfplay.Run, s *selfplay.State) (selfplay.Learner, error) {
	if s.Has("backup") {
		return backup.Restore(r, a.backup(), s)
	}
	critic, err := lambda.Restore(r, a.lambda(), s)
	if err != nil {
		return nil, err
	}
	if !s.Has("actor") {
		return critic, nil
	}
	return actor.Restore(r, a.actor(), critic, s)
}

func (a algorithm) lambda() lambda.Config {
	return a.config.LambdaConfig.Falling(max(a.config.Warm, a.config.Backup))
}

func (a algorithm) backup() backup.Config {
	return a.config.BackupConfig.With(a.config.DeepWidth, a.config.Versus)
}

func (a algorithm) actor() actor.Config { return a.config.ActorConfig.Beginning(a.config.actorFrom()) }
