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
}

// Check reports the first setting that is out of range.
func (c Config) Check() error {
	if c.Others < 0 || c.Others > 16 {
		return fmt.Errorf("others is %d, want 0 to 16 choices", c.Others)
	}
	return cmp.Or(
		selfplay.Share("lambda", c.Lambda), selfplay.Share("warm", c.Warm), selfplay.Share("imitate", c.Imitate),
		selfplay.Share("deep", c.Deep), selfplay.Share("versus", c.Versus),
		selfplay.Count("deep width", c.DeepWidth, 1<<20),
		selfplay.Rate("rate warm", c.RateWarm), selfplay.Rate("rate", c.RateFrom), selfplay.Rate("rate end", c.RateTo),
	)
}
