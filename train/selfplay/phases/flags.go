package phases

import (
	"fmt"

	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// Flags are the flags of a new run in a game of several seats. Their help texts are in selfplay.FlagHelp.
type Flags struct {
	Results     *float64 `help:"${results}" placeholder:"SHARE" group:"Games of several seats"`
	Backup      *float64 `help:"${backup}" placeholder:"SHARE" group:"Games of several seats"`
	Versus      *float64 `help:"${versus}" placeholder:"SHARE" group:"Games of several seats"`
	Opponents   []string `help:"${opponents}" placeholder:"AGENT" group:"Games of several seats"`
	GatePairs   *int     `help:"${gate_pairs}" placeholder:"N" group:"Games of several seats"`
	GatePly     *int     `help:"${gate_ply}" placeholder:"N" group:"Games of several seats"`
	GateAgainst []string `help:"${gate_against}" placeholder:"AGENT" group:"Games of several seats"`
	GateElo     *float64 `help:"${gate_elo}" placeholder:"ELO" group:"Games of several seats"`

	Samples    *int     `help:"${samples}" placeholder:"N" group:"With --backup"`
	Look       *int     `help:"${look}" placeholder:"N" group:"With --backup"`
	RateBackup *float64 `help:"${rate_backup}" placeholder:"X" group:"With --backup"`
}

// Parts of a run that flags are for.
const (
	seats  = "games of several seats"
	versus = "games against opponents"
	backup = "fitted value iteration"
	values = "TD(λ) on the results of games"
	warm   = "games with a planner (Dropblox)"
)

// parts says which parts a run with these settings has.
func (c *Config) parts() map[string]selfplay.Part {
	return map[string]selfplay.Part{
		seats:  {Used: true},
		versus: {Used: c.Versus > 0, Hint: "give --versus a share above 0"},
		backup: {Used: c.Backup > 0, Hint: "give --backup a share above 0"},
		warm:   {Hint: "it has several seats"},
		values: {Used: c.Backup < 1, Hint: "--backup has the whole budget: lower it"},
	}
}

// Config returns the settings of the run of a game of several seats that the flags ask for: those of Default where they
// leave them open.
func (f *Flags) Config(g *games.Game, run *selfplay.Flags) (*Config, error) {
	c := Default(g)
	switch { // what one share leaves is the other
	case f.Results != nil && f.Backup == nil:
		c.Results, c.Backup = *f.Results, 1-*f.Results
	case f.Backup != nil && f.Results == nil:
		c.Results, c.Backup = 1-*f.Backup, *f.Backup
	}
	run.Apply(&c.Options)
	flags := append(f.set(&c), selfplay.Set("lambda", run.Lambda, &c.Lambda, values),
		selfplay.Set("rate", run.Rate, &c.RateFrom, values), selfplay.Set("rate-end", run.RateEnd, &c.RateTo, values),
		selfplay.Set("deep-width", run.DeepWidth, &c.DeepWidth, backup), selfplay.Set("warm", run.Warm, new(float64), warm))
	if c.Backup == 0 {
		c.Results = 0
	}
	if err := c.Check(g); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	return &c, selfplay.Refuse(flags, c.parts())
}

// Refuse returns an error for the first flag that was given, in a game of one seat.
func (f *Flags) Refuse() error {
	none := new(Config).parts()
	for name := range none {
		none[name] = selfplay.Part{Hint: "this game has one seat"}
	}
	return selfplay.Refuse(f.set(new(Config)), none)
}

func (f *Flags) set(c *Config) []selfplay.Flag {
	return []selfplay.Flag{
		selfplay.Set("results", f.Results, &c.Results, backup),
		selfplay.Set("backup", f.Backup, &c.Backup, seats),
		selfplay.Set("versus", f.Versus, &c.Versus, seats),
		selfplay.SetList("opponents", f.Opponents, &c.Opponents, versus),
		selfplay.Set("gate-pairs", f.GatePairs, &c.GatePairs, seats),
		selfplay.Set("gate-ply", f.GatePly, &c.GatePly, seats),
		selfplay.SetList("gate-against", f.GateAgainst, &c.GateAgainst, seats),
		selfplay.Set("gate-elo", f.GateElo, &c.GateElo, seats),

		selfplay.Set("samples", f.Samples, &c.Samples, backup),
		selfplay.Set("look", f.Look, &c.Look, backup),
		selfplay.Set("rate-backup", f.RateBackup, &c.RateBackup, backup),
	}
}
