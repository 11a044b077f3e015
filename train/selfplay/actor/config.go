package actor

import (
	"cmp"
	"fmt"

	"blockyard/train/selfplay"
)

// A Config is the settings of an actor.
type Config struct {
	Actor       float64 // share of the budget, at its end but not in the warm start, in which an actor learns and plays
	Temperature float64 // of the softmax it draws its choices from, in units of its net's outputs
	Step        float64 // how far an advantage moves the chances that its outputs are the log odds of
	ActorBatch  int     // rows, two per pair, per step of its optimiser
	ActorFrom   float64 // learning rate, its own and the critic's, when it begins
	ActorTo     float64 // and at the end of the budget

	begins float64 // progress at which it begins
}

// Beginning returns the settings of an actor that begins at a given progress.
func (c Config) Beginning(progress float64) Config {
	c.begins = progress
	return c
}

// Check reports the first setting that is out of range. Without an actor only its share counts.
func (c Config) Check() error {
	if err := selfplay.CheckShare("actor", c.Actor); err != nil || c.Actor == 0 {
		return err
	}
	switch {
	case !(c.Temperature >= 1e-3 && c.Temperature <= 1e3):
		return fmt.Errorf("temperature is %v, want 0.001 to 1000", c.Temperature)
	case !(c.Step > 0 && c.Step <= 1e3):
		return fmt.Errorf("step is %v, want above 0 and at most 1000", c.Step)
	}
	return cmp.Or(selfplay.CheckCount("actor batch", c.ActorBatch, 1<<20),
		selfplay.CheckRate("actor rate", c.ActorFrom), selfplay.CheckRate("actor rate end", c.ActorTo))
}
