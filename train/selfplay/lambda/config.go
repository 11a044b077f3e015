package lambda

import (
	"cmp"
	"fmt"

	"blockyard/train/selfplay"
)

// A Config is the settings of TD(λ) and its warm start.
type Config struct {
	Lambda    float64 // of the returns
	RateWarm  float64 // learning rate of the warm start
	RateFrom  float64 // learning rate after it
	RateTo    float64 // learning rate at the end of the budget
	Warm      float64 // share of the budget in which the baseline evaluator plays
	Imitate   float64 // weight of the baseline evaluator's opinion in the targets of the warm start
	Others    int     // choices not made, drawn at random, that are learned as well in the warm start
	Deep      float64 // share of the budget, at its end, in which choices are searched two plies deep
	DeepWidth int     // first choices that a two-ply decision searches
	Versus    float64 // share of games after the warm start with the baseline evaluator in one seat

	fallFrom float64 // progress at which the learning rate begins to fall from RateFrom
}

// Falling returns the settings of a learning rate that begins to fall at a given progress.
func (c Config) Falling(progress float64) Config {
	c.fallFrom = progress
	return c
}

// Check reports the first setting that is out of range.
func (c Config) Check() error {
	if c.Others < 0 || c.Others > 16 {
		return fmt.Errorf("others is %d, want 0 to 16 choices", c.Others)
	}
	return cmp.Or(
		selfplay.CheckShare("lambda", c.Lambda), selfplay.CheckShare("warm", c.Warm),
		selfplay.CheckShare("imitate", c.Imitate), selfplay.CheckShare("deep", c.Deep),
		selfplay.CheckShare("versus", c.Versus), selfplay.CheckCount("deep width", c.DeepWidth, 1<<20),
		selfplay.CheckRate("rate warm", c.RateWarm), selfplay.CheckRate("rate", c.RateFrom),
		selfplay.CheckRate("rate end", c.RateTo),
	)
}
