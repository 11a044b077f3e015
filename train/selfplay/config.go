package selfplay

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
	Rounds     int           // of each game between two fits
	Iterations int           // stretches of Rounds in all; 0 if For is set
	For        time.Duration // the budget as time instead; then runs differ from each other

	Lambda    float64 // of the returns
	Mean      int     // iterations over which weights are averaged; the mean plays, 1 is none
	RateWarm  float64 // learning rate of the warm start
	RateFrom  float64 // after it
	RateTo    float64 // and at the end
	Warm      float64 // share of the budget in which the hand-tuned evaluator plays
	Imitate   float64 // weight of the hand-tuned evaluator's opinion in the targets of the warm start
	Others    int     // choices not made, drawn at random, that are learnt as well in the warm start
	Deep      float64 // share of the budget, at its end, in which moves are chosen two plies deep
	DeepWidth int     // first choices a deep decision goes on with
	Explore   float64 // chance of a random choice among the best few; an actor explores by itself
	Late      float64 // share of games that start late or damaged
	Versus    float64 // share of games after the warm start with the hand-tuned evaluator in one seat

	Backup     float64 // share of the budget, at its beginning, in which a net learns what a search with the one before it finds
	Samples    int     // looks a choice further per decision there; DeepWidth is how many first choices it has
	Look       int     // choices each of them looks further; 0 is 1
	RateBackup float64 // learning rate there, at the beginning of a stage

	Actor       float64 // share of the budget, at its end but not in the warm start, in which an actor learns and plays
	Temperature float64 // of the softmax it draws its choices from, in units of its net's outputs
	Step        float64 // how far an advantage moves the chances that its outputs are the log odds of
	ActorBatch  int     // rows, two a pair, per step of its optimiser
	ActorFrom   float64 // learning rate, its own and that of values, when it begins
	ActorTo     float64 // and at the end

	Gates     int // how often a net is saved and gated
	GatePairs int // pairs of games per gate and opponent
	GatePly   int // how deep both sides look in a gate
}

// Default is a run of some minutes on one core.
func Default() Config {
	return Config{
		Seed: 1, Hidden: []int{32}, Batch: 512,
		Games: 64, Rounds: 64, Iterations: 3000,
		Lambda: 0.9, Mean: 30, RateWarm: 1e-3, RateFrom: 2e-4, RateTo: 1e-5,
		Warm: 0.15, Imitate: 0.5, Others: 2, Deep: 0, DeepWidth: 4, Explore: 0.02, Late: 0.1, Versus: 0,
		Backup: 0, Samples: 4, Look: 1, RateBackup: 1e-3,
		Actor: 1, Temperature: 0.05, Step: 1, ActorBatch: 1024, ActorFrom: 5e-4, ActorTo: 1e-4,
		Gates: 10, GatePairs: 200, GatePly: 2,
	}
}

// Backed is a run that starts from the hand-tuned evaluator and backs up what searches
// find, of some minutes on two cores.
func Backed() Config {
	c := Default()
	c.Hidden, c.Batch, c.DeepWidth, c.Late = []int{48}, 256, 8, 0.25
	c.Iterations, c.Warm, c.Backup, c.Actor, c.Gates = 1200, 0, 1, 0, 6
	return c
}

// actorFrom is the progress at which the actor begins, if there is to be one.
func (c Config) actorFrom() float64 { return max(c.Warm, c.Backup, 1-c.Actor) }

func (c Config) check() error {
	share := func(name string, v float64) error {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("%s is %v, want 0 to 1", name, v)
		}
		return nil
	}
	for _, s := range []struct {
		name string
		v    float64
	}{{"lambda", c.Lambda}, {"warm", c.Warm}, {"imitate", c.Imitate}, {"deep", c.Deep}, {"explore", c.Explore}, {"late", c.Late}, {"versus", c.Versus}, {"backup", c.Backup}, {"actor", c.Actor}} {
		if err := share(s.name, s.v); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		name string
		v    int
	}{{"batch", c.Batch}, {"games", c.Games}, {"rounds", c.Rounds}, {"deep width", c.DeepWidth}, {"gates", c.Gates}, {"mean", c.Mean}, {"gate pairs", c.GatePairs}} {
		if s.v < 1 || s.v > 1<<20 {
			return fmt.Errorf("%s is %d, want 1 to %d", s.name, s.v, 1<<20)
		}
	}
	switch {
	case (c.Iterations > 0) == (c.For > 0):
		return fmt.Errorf("%d iterations and a time of %v: one of the two is the budget", c.Iterations, c.For)
	case !(c.RateWarm > 0 && c.RateFrom > 0 && c.RateTo > 0 && c.RateWarm < 1 && c.RateFrom < 1 && c.RateTo < 1):
		return fmt.Errorf("learning rates %v, %v to %v, want above 0 and below 1", c.RateWarm, c.RateFrom, c.RateTo)
	case c.Others < 0 || c.Others > 16:
		return fmt.Errorf("%d other choices, want 0 to 16", c.Others)
	case c.Backup > 0 && (c.Samples < 1 || c.Samples > 64):
		return fmt.Errorf("%d samples of a decision, want 1 to 64", c.Samples)
	case c.Backup > 0 && (c.Look < 0 || c.Look > 64):
		return fmt.Errorf("a look of %d choices, want 1 to 64", c.Look)
	case c.Backup > 0 && !(c.RateBackup > 0 && c.RateBackup < 1):
		return fmt.Errorf("the backup's learning rate %v, want above 0 and below 1", c.RateBackup)
	case c.GatePly < 1 || c.GatePly > 3:
		return fmt.Errorf("gates look %d plies deep, want 1 to 3", c.GatePly)
	}
	for _, h := range c.Hidden {
		if h < 1 || h > 1024 {
			return fmt.Errorf("a hidden layer of %d, want 1 to 1024", h)
		}
	}
	if c.Actor > 0 {
		return c.checkActor()
	}
	return nil
}

func (c Config) checkActor() error {
	switch {
	case !(c.Temperature >= 1e-3 && c.Temperature <= 1e3):
		return fmt.Errorf("temperature is %v, want 0.001 to 1000", c.Temperature)
	case !(c.Step > 0 && c.Step <= 1e3):
		return fmt.Errorf("step is %v, want above 0 and at most 1000", c.Step)
	case c.ActorBatch < 1 || c.ActorBatch > 1<<20:
		return fmt.Errorf("actor batch is %d, want 1 to %d", c.ActorBatch, 1<<20)
	case !(c.ActorFrom > 0 && c.ActorTo > 0 && c.ActorFrom < 1 && c.ActorTo < 1):
		return fmt.Errorf("the actor's learning rates %v to %v, want above 0 and below 1", c.ActorFrom, c.ActorTo)
	}
	return nil
}
