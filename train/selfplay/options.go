package selfplay

import (
	"cmp"
	_ "embed"
	"fmt"
	"iter"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"blockyard/datasets/program"
	"blockyard/train/games"
)

// Options are the settings that every algorithm has, saved with its own. A run that is resumed keeps them.
type Options struct {
	Seed   uint64
	Hidden []int // sizes of the hidden layers
	Batch  int   // rows per step of the optimiser

	Games      int           // played side by side
	Rounds     int           // steps of each game in a rollout
	Iterations int           // rollouts in all; 0 if For is set
	For        time.Duration // budget as wall-clock time, gates included; such a run cannot be repeated exactly

	Mean    int     // iterations over which weights are averaged, 1 for none
	Explore float64 // probability of a random choice
	Late    float64 // share of games that start from a late or damaged position
	Gates   int     // how often a net is evaluated and saved, each time at the end of a stage

	// LastStage is how many times as long as the others the last stage is; 0 is 1.
	LastStage int `json:",omitempty"`

	Without []string `json:",omitempty"` // how the names of features begin that nets are not to use

	// Opponents names who has one seat in the share Rollout.Versus of the games; none is the baseline alone.
	Opponents []string `json:",omitempty"`
}

const mostOpponents = math.MaxUint8 // how many opponents there can be: a saved slot has a byte for the number of each

// OpponentNames are Opponents, or the baseline's name if there are none.
func (o *Options) OpponentNames() []string {
	if len(o.Opponents) == 0 {
		return []string{"hand"}
	}
	return o.Opponents
}

// Check reports the first setting that is out of range.
func (o Options) Check() error {
	for _, h := range o.Hidden {
		if h < 1 || h > 1024 {
			return fmt.Errorf("hidden layer is %d, want 1 to 1024", h)
		}
	}
	n := len(o.Opponents)
	return cmp.Or(
		check((o.Iterations > 0) != (o.For > 0) && o.Iterations >= 0 && o.For >= 0,
			"a budget of %d iterations and %v: set one of the two, above 0", o.Iterations, o.For),
		check(n <= mostOpponents, "%d opponents, want at most %d", n, mostOpponents),
		CheckCount("batch", o.Batch, 1<<20), CheckCount("games", o.Games, 1<<20), CheckCount("rounds", o.Rounds, 1<<20),
		CheckCount("mean", o.Mean, 1<<20), CheckCount("gates", o.Gates, 1<<20),
		check(o.LastStage >= 0 && o.LastStage <= 1<<10, "last stage is %d, want 1 to %d", o.LastStage, 1<<10),
		CheckShare("explore", o.Explore), CheckShare("late", o.Late),
	)
}

// Common returns o. An algorithm that embeds Options gets this method of Algorithm by it.
func (o *Options) Common() *Options { return o }

// Sizes returns the layer sizes of a run's networks: the features of g, the hidden layers and 1.
func (o Options) Sizes(g *games.Game) []int {
	return append(append([]int{len(g.Features)}, o.Hidden...), 1)
}

// unused are the numbers of the features that nets are not to use.
func (o Options) unused(g *games.Game) (numbers []int, err error) {
	for _, begin := range o.Without {
		before := len(numbers)
		for i, name := range g.Features {
			if strings.HasPrefix(name, begin) {
				numbers = append(numbers, i)
			}
		}
		if len(numbers) == before {
			return nil, fmt.Errorf("without %q: no feature of the game begins with that, "+
				"want the beginning of a name such as %q", begin, g.Features[0])
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) == len(g.Features) {
		return nil, fmt.Errorf("without %q: no feature is left", o.Without)
	}
	return numbers, nil
}

func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// CheckShare returns an error about the setting name unless v is 0 to 1.
func CheckShare(name string, v float64) error {
	return check(v >= 0 && v <= 1, "%s is %v, want 0 to 1", name, v)
}

// CheckCount returns an error about the setting name unless v is 1 to most.
func CheckCount(name string, v, most int) error {
	return check(v >= 1 && v <= most, "%s is %d, want 1 to %d", name, v, most)
}

// CheckRate returns an error about the setting name unless v is a learning rate: above 0 and below 1.
func CheckRate(name string, v float64) error {
	return check(v > 0 && v < 1, "%s is %v, want a learning rate above 0 and below 1", name, v)
}

// Flags are the flags of a new run that every algorithm reads; nil or empty means the algorithm's default.
type Flags struct {
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
	LastStage  *int           `help:"${last_stage}" placeholder:"N" group:"Any run"`
	Without    []string       `help:"${without}" placeholder:"NAME" group:"Any run"`

	Warm      *float64 `help:"${warm}" placeholder:"SHARE" group:"TD(λ)" part:"warm"`
	Lambda    *float64 `help:"${lambda}" placeholder:"X" group:"TD(λ)" part:"values"`
	Rate      *float64 `help:"${rate}" placeholder:"X" group:"TD(λ)" part:"values"`
	RateEnd   *float64 `help:"${rate_end}" placeholder:"X" group:"TD(λ)" part:"values"`
	DeepWidth *int     `help:"${deep_width}" placeholder:"N" group:"TD(λ)" part:"search"`
}

//go:embed flags.toml
var flagTexts string

var FlagHelp = program.Texts(flagTexts) // the help texts of Flags, and of those of each algorithm

// Apply sets the options of given flags. A budget of time has no iterations and by default a gate per minute at most.
// The flags of settings that o is part of are set too.
func (f *Flags) Apply(o *Options, settings any) {
	if f.For != nil {
		o.Gates, o.Iterations = min(o.Gates, max(1, int(*f.For/time.Minute))), 0
	}
	Set(settings, f)
}

// Set copies the flags that were given into the settings of the same names, and leaves out flags without one.
func Set(settings, flags any) {
	to := reflect.ValueOf(settings).Elem()
	for field, value := range given(flags) {
		if setting := to.FieldByName(field.Name); setting.IsValid() {
			setting.Set(reflect.Indirect(value))
		}
	}
}

// given are the fields of a pointer to flags that a user has given a value: those that are not nil and not empty.
func given(flags any) iter.Seq2[reflect.StructField, reflect.Value] {
	return func(yield func(reflect.StructField, reflect.Value) bool) {
		for field, value := range reflect.ValueOf(flags).Elem().Fields() {
			empty := value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
			if !empty && !yield(field, value) {
				return
			}
		}
	}
}

// A Part of an algorithm that a run may have or not.
type Part struct {
	Name string
	Used bool
	Hint string // how a user gets it
}

// Parts are parts by the tag "part" of the flags that are for them.
type Parts map[string]Part

var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)

// Refuse returns an error for the first flag that was given and is for a part that the run does not have.
func (p Parts) Refuse(flags any) error {
	for field := range given(flags) {
		key, tagged := field.Tag.Lookup("part")
		if part := p[key]; tagged && !part.Used {
			flag := strings.ToLower(wordEnd.ReplaceAllString(field.Name, "$1-$2"))
			return fmt.Errorf("--%s belongs to %s, which this run does not use: %s", flag, part.Name, part.Hint)
		}
	}
	return nil
}
