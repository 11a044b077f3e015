package single

import (
	"fmt"
	"time"
)

// A Config is what a run is made of. All of it goes into the saved state; a run that is
// resumed keeps it.
type Config struct {
	Seed   uint64
	Hidden []int // sizes of the hidden layers
	Batch  int   // rows per step of the optimiser

	Games      int           // played side by side
	Rounds     int           // choices of each game between two fits
	Keep       int           // stretches that every fit learns from, the last ones
	Iterations int           // stretches of Rounds in all; 0 if For is set
	For        time.Duration // the budget as time instead; then runs differ from each other

	Lambda  float64 // of the returns
	Mean    int     // iterations over which weights are averaged; the mean is gated and saved, 1 is none
	Rate    float64 // learning rate at first
	RateEnd float64 // and at the end; it falls along half a cosine
	Explore float64 // chance of a random choice
	Width   int     // of the search that a planner makes
	Warm    float64 // share of the budget in which the hand-tuned player plays, where the game has a planner
	Late    float64 // share of games that start damaged
	Longest int     // choices after which a game is left for a new one

	Gates     int // how often a net is saved and measured
	GateGames int // games a gate plays, always the same
	GateSteps int // choices after which such a game is stopped
}

// Default is a run of some minutes on one core.
func Default() Config {
	return Config{
		Seed: 1, Hidden: []int{32}, Batch: 256,
		Games: 64, Rounds: 64, Keep: 1, Width: 6, Iterations: 3000,
		Lambda: 0.5, Mean: 30, Rate: 1e-3, RateEnd: 2e-5, Explore: 0, Late: 0.3, Longest: 2000,
		Gates: 10, GateGames: 64, GateSteps: 10000,
	}
}

// maxRows bounds the rows of all stretches that are kept.
const maxRows = 1 << 19

func (c Config) check() error {
	for name, v := range map[string]float64{"lambda": c.Lambda, "explore": c.Explore, "late": c.Late, "warm": c.Warm} {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("%s is %v, want 0 to 1", name, v)
		}
	}
	for name, v := range map[string]float64{"rate": c.Rate, "last rate": c.RateEnd} {
		if !(v > 0 && v <= 1) {
			return fmt.Errorf("%s is %v, want above 0, at most 1", name, v)
		}
	}
	for name, v := range map[string]int{
		"batch": c.Batch, "games": c.Games, "rounds": c.Rounds, "keep": c.Keep, "width": c.Width, "mean": c.Mean, "longest game": c.Longest,
		"gates": c.Gates, "gate games": c.GateGames, "gate steps": c.GateSteps,
	} {
		if v < 1 || v > 1<<20 {
			return fmt.Errorf("%s is %d, want 1 to %d", name, v, 1<<20)
		}
	}
	if n := c.Keep * c.Games * c.Rounds; n > maxRows {
		return fmt.Errorf("%d rows are kept, at most %d can be", n, maxRows)
	}
	if (c.Iterations > 0) == (c.For > 0) || c.Iterations < 0 || c.For < 0 {
		return fmt.Errorf("a budget of %d iterations and %v, want one of the two", c.Iterations, c.For)
	}
	return nil
}
