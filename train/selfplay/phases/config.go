package phases

import (
	"cmp"
	"errors"

	"blockyard/train/selfplay"
	"blockyard/train/selfplay/actor"
	"blockyard/train/selfplay/backup"
	"blockyard/train/selfplay/lambda"
	"blockyard/train/task"
)

// The settings of the learners, by names that a Config can embed side by side.
type (
	LambdaConfig = lambda.Config
	ActorConfig  = actor.Config
	BackupConfig = backup.Config
)

// A Config is all settings of a run.
type Config struct {
	selfplay.Options
	LambdaConfig
	ActorConfig
	BackupConfig

	GatePairs int // pairs of games per gate and opponent
	GatePly   int // how many plies both sides search in a gate
}

// Default is a run by the results of games, of some minutes on one core.
func Default() Config {
	return Config{
		Options: selfplay.Options{
			Seed: 1, Hidden: []int{32}, Batch: 512, Games: 64, Rounds: 64, Iterations: 3000,
			Mean: 30, Explore: 0.02, Late: 0.1, Gates: 10,
		},
		LambdaConfig: LambdaConfig{
			Lambda: 0.9, RateWarm: 1e-3, RateFrom: 2e-4, RateTo: 1e-5,
			Warm: 0.15, Imitate: 0.5, Others: 2, DeepWidth: 4,
		},
		ActorConfig:  ActorConfig{Actor: 1, Temperature: 0.05, Step: 1, ActorBatch: 1024, ActorFrom: 5e-4, ActorTo: 1e-4},
		BackupConfig: BackupConfig{Samples: 4, Look: 1, RateBackup: 1e-3},
		GatePairs:    200, GatePly: 2,
	}
}

// DefaultBackup is a run that starts from the baseline evaluator and backs up what searches
// find, of some minutes on two cores.
func DefaultBackup() Config {
	c := Default()
	c.Hidden, c.Batch, c.DeepWidth, c.Late = []int{48}, 256, 8, 0.25
	c.Iterations, c.Warm, c.Backup, c.Actor, c.Gates = 1200, 0, 1, 0, 6
	return c
}

// actorFrom is the progress at which the actor begins, if there is to be one.
func (c Config) actorFrom() float64 { return max(c.Warm, c.Backup, 1-c.Actor) }

// Check reports the first setting that is out of range or does not fit the game.
func (c Config) Check(g *task.Game) error {
	if c.Backup > 0 && c.Warm > 0 {
		return errors.New("a backup begins with a net that plays already: no warm start before it; use --warm 0")
	}
	return cmp.Or(c.Options.Check(), c.LambdaConfig.Check(), c.ActorConfig.Check(), c.BackupConfig.Check(g),
		selfplay.CheckCount("gate pairs", c.GatePairs, 1<<20), selfplay.CheckCount("gate ply", c.GatePly, 3))
}
