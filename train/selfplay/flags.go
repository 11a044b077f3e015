package selfplay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Flags are the flags of a new run that every algorithm reads. Those of one algorithm are beside it. A flag that is nil
// or empty was not given: the algorithm's default holds.
type Flags struct {
	FromZero   bool           `help:"Without effect: every run begins from zero." hidden:""`
	From       string         `help:"${from}" placeholder:"FILE" group:"Any run"`
	Seed       *uint64        `help:"${seed}" placeholder:"N" group:"Any run"`
	Iterations *int           `help:"${iterations}" placeholder:"N" group:"Any run"`
	For        *time.Duration `help:"${for}" placeholder:"10m" group:"Any run"`
	Hidden     []int          `help:"${hidden}" placeholder:"N" group:"Any run"`
	Games      *int           `help:"${games}" placeholder:"N" group:"Any run"`
	Rounds     *int           `help:"${rounds}" placeholder:"N" group:"Any run"`
	Batch      *int           `help:"${batch}" placeholder:"N" group:"Any run"`
	Mean       *int           `help:"${mean}" placeholder:"N" group:"Any run"`
	Explore    *float64       `help:"${explore}" placeholder:"X" group:"Any run"`
	Late       *float64       `help:"${late}" placeholder:"SHARE" group:"Any run"`
	Gates      *int           `help:"${gates}" placeholder:"N" group:"Any run"`

	Warm      *float64 `help:"${warm}" placeholder:"SHARE" group:"TD(λ)"`
	Lambda    *float64 `help:"${lambda}" placeholder:"X" group:"TD(λ)"`
	Rate      *float64 `help:"${rate}" placeholder:"X" group:"TD(λ)"`
	RateEnd   *float64 `help:"${rate_end}" placeholder:"X" group:"TD(λ)"`
	DeepWidth *int     `help:"${deep_width}" placeholder:"N" group:"TD(λ)"`
}

// FlagHelp are the help texts of Flags.
var FlagHelp = kong.Vars{
	"from": "Network to start from instead of random weights; with --results 0, of the backup.",
	"seed": "Seed of everything random. Default: 1.",
	"iterations": "Budget: rollouts of self-play. Default: 800 in Block Battle, about three minutes on two cores; " +
		"1200 in the duel, 500 in Blocking, 3000 in WinTetris, 400 in Dropblox.",
	"for": "Budget as wall-clock time instead, gates included: the command ends at about that time. " +
		"Gates play fewer games if theirs would take more than a quarter of it. Such a run cannot be repeated exactly.",
	"hidden": "Sizes of the hidden layers. Default: 64, in WinTetris 32.",
	"games":  "Games played side by side. Default: 64.",
	"rounds": "Steps of each game in a rollout; with --backup a 16th, because each row costs a search. Default: 64, in " +
		"Blocking and Dropblox 32.",
	"batch":   "Rows per step of the optimiser. Default: 384 in Block Battle, 64 in Blocking, else 256.",
	"mean":    "Iterations over which weights are averaged. Default: 100, in Blocking and Dropblox 15, in WinTetris 30.",
	"explore": "Probability of a random choice. Default: 0.02, in Dropblox 0.03, in WinTetris 0.",
	"late": "Share of games that start from a late or damaged position. Default: 0.25 in Block Battle, 0.2 in the duel, " +
		"0.8 in WinTetris, else 1.",
	"gates": "How often the network is evaluated and saved. Default: 4 in Block Battle and Dropblox, 10 in WinTetris, " +
		"else 6, and with --for one per minute at most.",

	"warm":     "Share of the budget in which the baseline evaluator plans, in Dropblox. Default: 0.",
	"lambda":   "λ of the returns, 0 to 1. Default: 0.95, in WinTetris 0.5, in Dropblox 0.8.",
	"rate":     "Learning rate at the beginning. Default: 0.001.",
	"rate_end": "Learning rate at the end. Default: 0.00005, for one seat 0.00002.",
	"deep_width": "First choices that a backup of a game of turns searches two plies deep; in Dropblox the width of the " +
		"search. Default: 8, in Dropblox 6.",
}

// Apply sets the options for which flags were given. With a budget of time there is a gate per minute at most by
// default, and no budget of iterations.
func (f *Flags) Apply(o *Options) {
	timed := f.For != nil && *f.For > 0
	if timed {
		o.Gates = min(o.Gates, max(1, int(*f.For/time.Minute)))
	}
	Set("seed", f.Seed, &o.Seed)
	Set("iterations", f.Iterations, &o.Iterations)
	Set("for", f.For, &o.For)
	SetList("hidden", f.Hidden, &o.Hidden)
	Set("games", f.Games, &o.Games)
	Set("rounds", f.Rounds, &o.Rounds)
	Set("batch", f.Batch, &o.Batch)
	Set("mean", f.Mean, &o.Mean)
	Set("explore", f.Explore, &o.Explore)
	Set("late", f.Late, &o.Late)
	Set("gates", f.Gates, &o.Gates)
	if timed {
		o.Iterations = 0
	}
}

// A Flag says whether a flag was given, and which parts of a run it is for.
type Flag struct {
	name  string
	given bool
	parts []string
}

// Set copies a flag into a setting, if it was given. parts are the parts of a run that read the setting.
func Set[T any](name string, flag, setting *T, parts ...string) Flag {
	if flag != nil {
		*setting = *flag
	}
	return Flag{name, flag != nil, parts}
}

// SetList is Set for a flag that is a list.
func SetList[T any](name string, flag []T, setting *[]T, parts ...string) Flag {
	if len(flag) > 0 {
		*setting = flag
	}
	return Flag{name, len(flag) > 0, parts}
}

// A Part of an algorithm that a run may have or not.
type Part struct {
	Used bool
	Hint string // how a user gets it
}

// Refuse returns an error for the first flag that was given and is for no part that the run has.
func Refuse(flags []Flag, parts map[string]Part) error {
	for _, f := range flags {
		if !f.given || slices.ContainsFunc(f.parts, func(part string) bool { return parts[part].Used }) {
			continue
		}
		return fmt.Errorf("--%s belongs to %s, which this run does not use: %s",
			f.name, strings.Join(f.parts, " or "), parts[f.parts[0]].Hint)
	}
	return nil
}
