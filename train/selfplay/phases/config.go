package phases

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"blockyard/agents/bots"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// A Config is all settings of a run, and its selfplay.Algorithm.
type Config struct {
	selfplay.Options

	Lambda    float64 // of the returns
	Rate      float64 `json:"RateFrom"` // learning rate of TD(λ) at the beginning
	RateEnd   float64 `json:"RateTo"`   // and at its end
	DeepWidth int     // first choices that a decision in a backup of a game of turns searches
	Versus    float64 // share of games with an opponent in one seat

	Results    float64 // share of the budget, at its beginning, for TD(λ) before a backup; 0 without one
	Backup     float64 // share of the budget, the rest, for fitted value iteration; 0: all is TD(λ)
	Samples    int     // positions per decision that are searched further and learned from
	Often      int     // how many times a decision is learned from in a stage of siblings, in the mean
	Look       int     // plies that each of them is searched further in games of turns; 0 is 1
	RateBackup float64 // learning rate at the beginning of a stage

	GatePairs int // pairs of games per gate and opponent
	GatePly   int // how many plies both sides search in a gate

	// GateAgainst names agents that gates play, GatePairs in all, in place of the baseline. A net is then kept only if it
	// also scores no less against them than the best net did: nets that are nearly the same split their games. They are
	// checked where a run starts or resumes; workers need not know them.
	GateAgainst []string
	// GateText says whose text an entry of GateAgainst is; nil means that all are foreign and name no weights.
	GateText func(name string) bots.Text `json:"-"`

	// GateElo, if above 0, lets a gate play against the best net so far until a sequential test decides between 0 and
	// GateElo, for at most testPairs·GatePairs pairs. Otherwise it plays GatePairs.
	GateElo float64
}

// Check implements selfplay.Algorithm. It also refuses opponents that the game does not have.
func (c *Config) Check(g *games.Game) error {
	if all := c.Results + c.Backup; all != 0 && !(c.Backup > 0 && math.Abs(all-1) < 1e-9) {
		return fmt.Errorf("results %v and backup %v: results come before a backup, want 1 in all", c.Results, c.Backup)
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
	if err := cmp.Or(
		c.Options.Check(), selfplay.CheckShare("results", c.Results), selfplay.CheckShare("backup", c.Backup),
		selfplay.CheckShare("lambda", c.Lambda), selfplay.CheckShare("versus", c.Versus),
		selfplay.CheckCount("deep width", c.DeepWidth, 1<<20),
		selfplay.CheckRate("rate", c.Rate), selfplay.CheckRate("rate end", c.RateEnd),
		selfplay.CheckCount("gate pairs", c.GatePairs, 1<<20), selfplay.CheckCount("gate ply", c.GatePly, 3),
	); err != nil {
		return err
	}
	switch {
	case c.Backup == 0:
		return nil
	case c.Look < 0 || c.Look > 64:
		return fmt.Errorf("look is %d, want 1 to 64 plies", c.Look)
	case c.Look > 1 && hasDraws(g):
		return fmt.Errorf("look is %d: a search over random draws goes one ply further; use --look 1", c.Look)
	case !hasDraws(g) && !takesTurns(g):
		return errors.New("no backup: the game has no draws that a search can enumerate, " +
			"nor two seats that take turns; use --backup 0")
	}
	return cmp.Or(selfplay.CheckCount("samples", c.Samples, 64), selfplay.CheckRate("rate backup", c.RateBackup))
}

// takesTurns reports whether g is a game in which two seats take turns.
func takesTurns(g *games.Game) bool { return g.Rules.Rows == 1 && g.Rules.MinSeats == 2 }

// hasDraws reports whether g is a game whose random draws a search can enumerate, in which seats act at once.
func hasDraws(g *games.Game) bool { return g.Outcomes > 0 && !takesTurns(g) }

// Default is the recipe of a game. It begins with random weights; features are its only human knowledge.
//
// The first part of the budget learns from results, the rest is a backup from that net, a stage per gate. There is none
// in games of more than two seats, or without draws or turns that a search can use. With many legal actions there are
// fewer decisions, and more steps of the optimiser for each.
func Default(g *games.Game) Config {
	c := Config{
		Options: selfplay.Options{
			Seed: 1, Hidden: []int{64}, Batch: 256, Games: 64, Rounds: 64, Iterations: 1200,
			Mean: 100, Explore: 0.02, Late: 0.2, Gates: 6,
		},
		Lambda: 0.95, Rate: 1e-3, RateEnd: 5e-5, DeepWidth: 8, Samples: 4, Look: 1, RateBackup: 1e-3,
		GatePairs: 100, GatePly: 2, GateElo: 20,
	}
	switch {
	case g.Rules.MaxSeats > 2 || !hasDraws(g) && !takesTurns(g):
		c.Late, c.Iterations, c.Rounds, c.Batch, c.Mean, c.GatePly = 1, 1000, 32, 64, 60, 1
		c.Hidden = []int{48} // a contest's file has no room for many more
	case takesTurns(g): // a search of one ply further costs little, and six teach more; a third for results is enough
		c.Hidden = []int{48}
		c.Results, c.Backup, c.Samples, c.Look = 2./6, 4./6, 8, 6
	default: // two stages of siblings, and a third that is twice as long
		c.Results, c.Backup, c.Gates, c.Iterations, c.LastStage = 2./6, 4./6, 5, 1200, 2
		c.Samples, c.Often, c.Batch, c.Late, c.GateElo = 24, 10, 384, 0.25, 0
	}
	return c
}

// Flags are the flags of a new run in a game of several seats. Their help texts are in selfplay.FlagHelp.
type Flags struct {
	Results     *float64 `help:"${results}" placeholder:"SHARE" group:"Games of several seats" part:"backup"`
	Backup      *float64 `help:"${backup}" placeholder:"SHARE" group:"Games of several seats" part:"seats"`
	Versus      *float64 `help:"${versus}" placeholder:"SHARE" group:"Games of several seats" part:"seats"`
	Opponents   []string `help:"${opponents}" placeholder:"AGENT" group:"Games of several seats" part:"versus"`
	GatePairs   *int     `help:"${gate_pairs}" placeholder:"N" group:"Games of several seats" part:"seats"`
	GatePly     *int     `help:"${gate_ply}" placeholder:"N" group:"Games of several seats" part:"seats"`
	GateAgainst []string `needs:"" help:"${gate_against}" placeholder:"AGENT" group:"Games of several seats" part:"seats"`
	GateElo     *float64 `help:"${gate_elo}" placeholder:"ELO" group:"Games of several seats" part:"seats"`

	Samples    *int     `help:"${samples}" placeholder:"N" group:"With --backup" part:"backup"`
	Look       *int     `help:"${look}" placeholder:"N" group:"With --backup" part:"backup"`
	RateBackup *float64 `help:"${rate_backup}" placeholder:"X" group:"With --backup" part:"backup"`
}

// parts says which parts a run with these settings has.
func (c *Config) parts() selfplay.Parts {
	search := selfplay.Part{Name: "fitted value iteration", Used: c.Backup > 0, Hint: "give --backup a share above 0"}
	return selfplay.Parts{
		"seats":  {Name: "games of several seats", Used: true},
		"versus": {Name: "games against opponents", Used: c.Versus > 0, Hint: "give --versus a share above 0"},
		"backup": search,
		"search": search,
		"values": {Name: "TD(λ) on the results of games", Used: c.Backup < 1,
			Hint: "--backup has the whole budget: lower it"},
		"warm": {Name: "games with a planner (Dropblox)", Hint: "it has several seats"},
	}
}

// Config returns the settings that the flags ask for, by default those of Default.
func (f *Flags) Config(g *games.Game, run *selfplay.Flags) (*Config, error) {
	c := Default(g)
	switch { // what one share leaves is the other
	case f.Results != nil && f.Backup == nil:
		c.Backup = 1 - *f.Results
	case f.Backup != nil && f.Results == nil:
		c.Results = 1 - *f.Backup
	}
	run.Apply(&c.Options, &c)
	selfplay.Set(&c, f)
	if c.Backup == 0 {
		c.Results = 0
	}
	if err := c.Check(g); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	parts := c.parts()
	return &c, cmp.Or(parts.Refuse(f), parts.Refuse(run))
}

// Refuse returns an error for the first flag that was given, in a game of one seat.
func (f *Flags) Refuse() error {
	none := new(Config).parts()
	for key, part := range none {
		none[key] = selfplay.Part{Name: part.Name, Hint: "this game has one seat"}
	}
	return none.Refuse(f)
}
