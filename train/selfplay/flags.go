package selfplay

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"blockyard/datasets/program"
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
	Without    []string       `help:"${without}" placeholder:"NAME" group:"Any run"`

	Warm      *float64 `help:"${warm}" placeholder:"SHARE" group:"TD(λ)"`
	Lambda    *float64 `help:"${lambda}" placeholder:"X" group:"TD(λ)"`
	Rate      *float64 `help:"${rate}" placeholder:"X" group:"TD(λ)"`
	RateEnd   *float64 `help:"${rate_end}" placeholder:"X" group:"TD(λ)"`
	DeepWidth *int     `help:"${deep_width}" placeholder:"N" group:"TD(λ)"`
}

//go:embed flags.toml
var flagTexts string

// FlagHelp are the help texts of Flags, and of those of each algorithm.
var FlagHelp = program.Texts(flagTexts)

// Apply sets the options for which flags were given. With a budget of time there is a gate per minute at most by
// default, and no budget of iterations.
func (f *Flags) Apply(o *Options) {
	if f.For != nil {
		o.Gates, o.Iterations = min(o.Gates, max(1, int(*f.For/time.Minute))), 0
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
	SetList("without", f.Without, &o.Without)
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
