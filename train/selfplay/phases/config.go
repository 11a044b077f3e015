package phases

import (
	"cmp"
	"errors"
	"fmt"

	"blockyard/agents/bots"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// A Config is all settings of a run, and its selfplay.Algorithm.
type Config struct {
	selfplay.Options

	Lambda    float64 // of the returns
	RateWarm  float64 // learning rate of the warm start
	RateFrom  float64 // learning rate after it
	RateTo    float64 // learning rate at the end of the budget
	Warm      float64 // share of the budget in which the baseline evaluator plays
	Imitate   float64 // weight of the baseline evaluator's opinion in the targets of the warm start
	Others    int     // choices not made, drawn at random, that are learned as well in the warm start
	Deep      float64 // share of the budget, at its end or that of Results, in which choices are searched two plies deep
	DeepWidth int     // first choices that a two-ply decision searches
	Versus    float64 // share of games after the warm start with an opponent in one seat

	Actor       float64 // share of the budget, at its end but not in the warm start, in which an actor learns and plays
	Temperature float64 // of the softmax it draws its choices from, in units of its net's outputs
	Step        float64 // how far an advantage moves the chances that its outputs are the log odds of
	ActorBatch  int     // rows, two per pair, per step of its optimiser
	ActorFrom   float64 // learning rate, its own and the critic's, when it begins
	ActorTo     float64 // and at the end of the budget

	Results    float64 // share of the budget, at its beginning, for TD(λ) before the backup
	Ensemble   int     // nets that Results trains, one after the other; the backup begins with their mean; 0 is 1
	Backup     float64 // share of the budget, after Results, for fitted value iteration
	Samples    int     // positions per decision that are searched further and learned from
	Look       int     // plies that each of them is searched further; 0 is 1
	RateBackup float64 // learning rate at the beginning of a stage

	LogOdds        bool // outputs are log odds of winning: means are those of probabilities, and so is the loss
	WithinDecision bool // a change counts relative to the mean of its decision, not to that of the stage so far

	GatePairs int // pairs of games per gate and opponent
	GatePly   int // how many plies both sides search in a gate

	// GateAgainst names agents that gates play against in place of the baseline evaluator, for GatePairs in all. A net
	// is then kept only if it also scores no less against them than the best net did: nets that are nearly the same
	// split most of their games, and opponents of other styles show what that hides. They are checked where a run
	// starts or is resumed: workers, which play no gates, need not know them.
	GateAgainst []string
	// GateText says whose text an entry of GateAgainst is; nil means that all are foreign and name no weights.
	GateText func(name string) bots.Text `json:"-"`

	// GateElo, if above 0, lets a gate play against the best net so far until a sequential test decides between 0 and
	// GateElo, for at most testPairs·GatePairs pairs. Otherwise it plays GatePairs.
	GateElo float64
}

// Default is a run by the results of games, of some minutes on one core.
func Default() Config {
	return Config{
		Options: selfplay.Options{
			Seed: 1, Hidden: []int{32}, Batch: 512, Games: 64, Rounds: 64, Iterations: 3000,
			Mean: 30, Explore: 0.02, Late: 0.1, Gates: 10,
		},
		Lambda: 0.9, RateWarm: 1e-3, RateFrom: 2e-4, RateTo: 1e-5,
		Warm: 0.15, Imitate: 0.5, Others: 2, DeepWidth: 4,
		Actor: 1, Temperature: 0.05, Step: 1, ActorBatch: 1024, ActorFrom: 5e-4, ActorTo: 1e-4,
		Samples: 4, Look: 1, RateBackup: 1e-3,
		GatePairs: 200, GatePly: 2,
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

// backupEnd is the progress at which the backup ends; 0 without one.
func (c *Config) backupEnd() float64 { return c.Results + c.Backup }

// fallFrom is the progress at which the learning rate of TD(λ) begins to fall, after the results.
func (c *Config) fallFrom() float64 { return max(c.Warm, c.backupEnd()) }

// actorFrom is the progress at which the actor begins, if there is to be one.
func (c *Config) actorFrom() float64 { return max(c.Warm, c.backupEnd(), 1-c.Actor) }

// Check implements selfplay.Algorithm. Without an actor or a backup only its share counts.
func (c *Config) Check(g *games.Game) error {
	if c.Backup > 0 && c.Warm > 0 {
		return errors.New("a backup begins with a net that plays already: no warm start before it; use --warm 0")
	}
	if c.Results > 0 && (c.Backup == 0 || !(c.backupEnd() <= 1+1e-9)) {
		return fmt.Errorf("results %v and backup %v: results come before a backup, want both above 0 and at most 1 in all",
			c.Results, c.Backup)
	}
	if c.Ensemble < 0 || c.Ensemble > 16 || c.Ensemble > 1 && (c.Results == 0 || len(c.Hidden) != 1) {
		return fmt.Errorf("an ensemble of %d, results %v and hidden layers %v: want 1 to 16 nets of one hidden layer, "+
			"trained on results before a backup", c.Ensemble, c.Results, c.Hidden)
	}
	if !(c.GateElo >= 0 && c.GateElo <= 1e3) {
		return fmt.Errorf("gate elo is %v, want 0 to 1000", c.GateElo)
	}
	for _, name := range c.Opponents {
		if _, err := g.Opponent(name); err != nil {
			return err
		}
	}
	if len(c.GateAgainst) > c.GatePairs {
		return fmt.Errorf("gate pairs is %d, want at least one for each of the %d opponents", c.GatePairs, len(c.GateAgainst))
	}
	if c.Others < 0 || c.Others > 16 {
		return fmt.Errorf("others is %d, want 0 to 16 choices", c.Others)
	}
	if err := cmp.Or(
		c.Options.Check(), selfplay.CheckShare("actor", c.Actor), selfplay.CheckShare("backup", c.Backup),
		selfplay.CheckShare("results", c.Results), selfplay.CheckShare("lambda", c.Lambda),
		selfplay.CheckShare("warm", c.Warm),
		selfplay.CheckShare("imitate", c.Imitate), selfplay.CheckShare("deep", c.Deep),
		selfplay.CheckShare("versus", c.Versus), selfplay.CheckCount("deep width", c.DeepWidth, 1<<20),
		selfplay.CheckRate("rate warm", c.RateWarm), selfplay.CheckRate("rate", c.RateFrom),
		selfplay.CheckRate("rate end", c.RateTo),
		selfplay.CheckCount("gate pairs", c.GatePairs, 1<<20), selfplay.CheckCount("gate ply", c.GatePly, 3),
	); err != nil {
		return err
	}
	if c.Actor > 0 {
		switch {
		case !(c.Temperature >= 1e-3 && c.Temperature <= 1e3):
			return fmt.Errorf("temperature is %v, want 0.001 to 1000", c.Temperature)
		case !(c.Step > 0 && c.Step <= 1e3):
			return fmt.Errorf("step is %v, want above 0 and at most 1000", c.Step)
		}
		if err := cmp.Or(selfplay.CheckCount("actor batch", c.ActorBatch, 1<<20),
			selfplay.CheckRate("actor rate", c.ActorFrom), selfplay.CheckRate("actor rate end", c.ActorTo)); err != nil {
			return err
		}
	}
	if c.Backup == 0 {
		return nil
	}
	if c.Look < 0 || c.Look > 64 {
		return fmt.Errorf("look is %d, want 1 to 64 plies", c.Look)
	}
	if g.Outcomes < 1 && !takesTurns(g) {
		return errors.New("no backup: the game has no draws that a search can enumerate, " +
			"nor two seats that take turns; use --backup 0")
	}
	return cmp.Or(selfplay.CheckCount("samples", c.Samples, 64), selfplay.CheckRate("rate backup", c.RateBackup))
}

// takesTurns reports whether g is a game in which two seats take turns.
func takesTurns(g *games.Game) bool { return g.Rules.Rows == 1 && g.Rules.MinSeats == 2 }

// FromZero is a run without a teacher: it begins with random weights, and the baseline evaluator neither plays, nor is
// imitated, nor is the first net. It is only the opponent in gates. What remains of human knowledge are the features.
//
// The first part of the budget learns from the results of games. The rest is a backup from that net, a stage per gate.
// Where single choices hardly differ, as in games of seats that act at once, the errors of one net matter most: there
// the results train an ensemble, and an actor has the last part: its net learns nothing but which choice is better.
// Games of more than two seats have no backup, and learn from results alone: their many legal actions make
// decisions expensive, so there are fewer of them, and more steps of the optimiser for each.
func FromZero(g *games.Game) Config {
	c := DefaultBackup()
	c.Hidden, c.Mean, c.Late, c.Gates, c.Iterations = []int{64}, 100, 0.2, 6, 1200
	c.Lambda, c.RateFrom, c.RateTo = 0.95, 1e-3, 5e-5
	c.GatePairs, c.GateElo = 100, 20
	switch {
	case g.Rules.MaxSeats > 2:
		c.Results, c.Backup, c.Late, c.Iterations = 0, 0, 1, 500
		c.Rounds, c.Batch, c.Mean, c.GatePly = 32, 64, 15, 1
	case takesTurns(g): // a search of one ply further costs little, and six teach more; a third for results is enough
		c.Results, c.Backup, c.Samples, c.Look = 2./6, 4./6, 8, 6
	default: // values from results are log odds; among them, the choices of one decision hardly differ
		c.Results, c.Backup, c.Actor, c.Gates, c.Iterations = 6./9, 1./9, 2./9, 9, 3600
		c.Ensemble, c.Deep, c.Samples, c.LogOdds, c.WithinDecision = 3, 0.25, 8, true, true
		c.ActorFrom, c.ActorTo = 3e-4, 3e-5
	}
	return c
}
