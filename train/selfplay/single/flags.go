package single

import (
	"errors"

	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// Flags are the flags of a new run in a game of one seat. Their help texts are in selfplay.FlagHelp.
type Flags struct {
	Discount  *float64 `help:"${discount}" placeholder:"X" group:"TD(λ)"`
	Keep      *int     `help:"${keep}" placeholder:"N" group:"Games of one seat"`
	Longest   *int     `help:"${longest}" placeholder:"N" group:"Games of one seat"`
	GateGames *int     `help:"${gate_games}" placeholder:"N" group:"Games of one seat"`
	GateSteps *int     `help:"${gate_steps}" placeholder:"N" group:"Games of one seat"`
}

// Parts of a run that flags are for.
const (
	alone   = "games of one seat"
	planner = "games with a planner (Dropblox)"
)

// Validate returns an error for a discount of 0, which stands for the game's own in a Config. The command line calls
// it.
func (f *Flags) Validate() error {
	if f.Discount != nil && *f.Discount == 0 {
		return errors.New("--discount is 0, want more than 0, up to 1")
	}
	return nil
}

// Config returns the settings of the run of a game of one seat that the flags ask for.
func (f *Flags) Config(g *games.Game, run *selfplay.Flags) (*Config, error) {
	c := Default(g)
	run.Apply(&c.Options)
	flags := append(f.set(&c), selfplay.Set("warm", run.Warm, &c.Warm, planner),
		selfplay.Set("lambda", run.Lambda, &c.Lambda, alone), selfplay.Set("rate", run.Rate, &c.Rate, alone),
		selfplay.Set("rate-end", run.RateEnd, &c.RateEnd, alone),
		selfplay.Set("deep-width", run.DeepWidth, &c.Width, planner))
	return &c, selfplay.Refuse(flags, map[string]selfplay.Part{
		alone: {Used: true}, planner: {Used: g.Solo.Planner != nil, Hint: "this game has none"},
	})
}

// Refuse returns an error for the first flag that was given, in a game of several seats.
func (f *Flags) Refuse() error {
	const hint = "this game has several seats"
	return selfplay.Refuse(f.set(new(Config)), map[string]selfplay.Part{alone: {Hint: hint}, planner: {Hint: hint}})
}

func (f *Flags) set(c *Config) []selfplay.Flag {
	return []selfplay.Flag{
		selfplay.Set("discount", f.Discount, &c.Discount, planner),
		selfplay.Set("keep", f.Keep, &c.Keep, alone),
		selfplay.Set("longest", f.Longest, &c.Longest, alone),
		selfplay.Set("gate-games", f.GateGames, &c.GateGames, alone),
		selfplay.Set("gate-steps", f.GateSteps, &c.GateSteps, alone),
	}
}
