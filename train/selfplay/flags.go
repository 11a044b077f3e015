package selfplay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Flags are the flags of a new run that every algorithm reads. Those of one algorithm are beside it. A flag that is nil
// or empty was not given: the algorithm's default holds.
type Flags struct {
	FromZero   bool           `help:"${from_zero}" group:"Any run"`
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
	"from": "Net to start from instead of random weights; with --results 0, of the backup.",
	"from_zero": "Learn without a teacher: from random weights, and the baseline evaluator is only the opponent in " +
		"gates. First from the results of games, then, with two seats, by search backups. " +
		"The other flags still count; some have other defaults then, which are listed in train/README.md.",
	"seed": "Seed of everything random. Default: 1.",
	"iterations": "Budget: rollouts of self-play. Default: 800 in Block Battle, about three minutes on two cores; " +
		"1200 in the duel, 500 in Blocking, else 3000.",
	"for": "Budget as wall-clock time instead, gates included: the command ends at about that time. " +
		"Gates play fewer games if theirs would take more than a quarter of it. Such a run cannot be repeated exactly.",
	"hidden":  "Sizes of the hidden layers. Default: 48 with --backup, else 32.",
	"games":   "Games played side by side. Default: 64.",
	"rounds":  "Steps of each game in a rollout; with --backup a 16th, because each row costs a search. Default: 64.",
	"batch":   "Rows per step of the optimiser. Default: 256 with --backup and for one seat, else 512.",
	"mean":    "Iterations over which weights are averaged. Default: 30.",
	"explore": "Probability of a random choice. Default: 0.02, for one seat 0.",
	"late": "Share of games that start from a late or damaged position. " +
		"Default: 0.25 with --backup, 0.3 for one seat, else 0.1.",
	"gates": "How often the network is evaluated and saved. Default: 6 with --backup, else 10, " +
		"and with --for one per minute at most.",

	"warm":     "Share of the budget in which the baseline evaluator plans, in Dropblox. Default: 0.",
	"lambda":   "λ of the returns, 0 to 1. Default: 0.9, for one seat 0.5.",
	"rate":     "Learning rate at the beginning. Default: 0.0002, from zero and for one seat 0.001.",
	"rate_end": "Learning rate at the end. Default: 0.00001, from zero 0.00005, for one seat 0.00002.",
	"deep_width": "First choices that a backup of a game of turns searches two plies deep; in Dropblox the width of the " +
		"search. Default: 8, in Dropblox 6.",
}

// Validate returns an error for a flag that lets the baseline evaluator teach a run from zero. The command line calls
// it.
func (f *Flags) Validate() error {
	return cmp.Or(f.NoTeacher("from", f.From != ""), f.NoTeacher("warm", f.Warm != nil && *f.Warm > 0))
}

// NoTeacher returns an error if the flag of that name was given for a run from zero.
func (f *Flags) NoTeacher(name string, given bool) error {
	if !f.FromZero || !given {
		return nil
	}
	return fmt.Errorf("--from-zero and --%s: a run from zero has random weights and no teacher; leave out one of them",
		name)
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
