package commands

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/contest"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/games"
)

// timing is the flag that says with which time of an answer the bots of a contest are charged.
type timing struct {
	Clock contest.Clock `enum:"fair,wall" default:"fair" help:"Charge a bot without (fair) or with (wall) delays."`
}

var errWallAnyway = errors.New("--clock is for contests in lines of text: this one's programs have the wall-clock time")

// contestFlags are the options of all contests as flags: structs that newContestFlags makes and kong fills in.
type contestFlags struct {
	Options kong.Plugins `embed:""`
}

// newContestFlags returns flags for the options of all contests, or of their clocks; one for options of one name.
func newContestFlags(clock bool) contestFlags {
	type flag struct {
		contest.Option
		help, games []string // of each contest with this option
	}
	var flags []flag
	for _, e := range hosted() {
		for _, o := range e.Host.Options {
			if clock && !o.Clock {
				continue
			}
			k := slices.IndexFunc(flags, func(f flag) bool { return f.Name == o.Name })
			if k < 0 {
				k, flags = len(flags), append(flags, flag{Option: o})
			}
			flags[k].help, flags[k].games = append(flags[k].help, describe(o)), append(flags[k].games, e.Game)
		}
	}
	var fields []reflect.StructField
	for k, o := range flags {
		for k, game := range o.games {
			if len(o.games) > 1 {
				o.help[k] = game + ": " + o.help[k]
			}
		}
		kind, tag := reflect.TypeFor[*string](), fmt.Sprintf(`name:%q help:%q group:%q`, o.Name,
			strings.Join(o.help, " "), strings.Join(o.games, ", "))
		switch {
		case o.Takes == "" && o.Choices == nil:
			kind = reflect.TypeFor[*bool]()
		case o.Choices != nil:
			tag += ` placeholder:"WORD"`
		default:
			tag += fmt.Sprintf(` placeholder:%q`, o.Takes)
		}
		if o.Needs != "" {
			tag += fmt.Sprintf(` needs:%q`, o.Needs)
		}
		if o.Empty {
			tag += ` empty:""`
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("Option%d", k), Type: kind, Tag: reflect.StructTag(tag),
		})
	}
	return contestFlags{kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

func describe(o contest.Option) string {
	text := o.Help
	switch {
	case o.Choices != nil && o.Variant:
		text += " " + strings.Join(o.Choices, ", ") + "."
	case o.Choices != nil:
		text += " " + strings.Join(o.Choices, " or ") + "; by default " + o.Choices[0] + "."
	case o.Default != "":
		text += " Default: " + o.Default + "."
	}
	return text
}

func (c *contestFlags) given() contest.Settings {
	out := contest.Settings{}
	for _, p := range c.Options {
		v := reflect.ValueOf(p).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsNil() {
				out[v.Type().Field(i).Tag.Get("name")] = fmt.Sprint(f.Elem())
			}
		}
	}
	return out
}

// contest returns a game, its contest and the settings that the flags ask for, which may choose a variant of the game.
func (c *contestFlags) contest(game string) (*env.Game, *contest.Contest, contest.Settings, error) {
	g, err := games.Open(game)
	if err != nil {
		return nil, nil, nil, err
	}
	rules := bots.Of(g).Host
	if rules == nil {
		var known []string
		for _, e := range hosted() {
			known = append(known, e.Game)
		}
		err := fmt.Errorf("%s has no contest between programs: want one of %s", g.Name, strings.Join(known, ", "))
		return nil, nil, nil, err
	}
	settings, err := rules.Settings(c.given())
	if err != nil {
		return nil, nil, nil, err
	}
	name, err := rules.Game(game, c.given())
	if err == nil {
		g, err = games.Open(name)
	}
	return g, rules, settings, err
}

func hosted() []*entry.Entry {
	return slices.DeleteFunc(slices.Clone(bots.All), func(e *entry.Entry) bool { return e.Host == nil })
}

// printHelp prints the help of a command, without the options of other games if the command line names one.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	for _, p := range ctx.Path {
		if p.Positional == nil || p.Positional.Name != "game" {
			continue
		}
		game, _, _ := strings.Cut(ctx.Value(p).String(), ":")
		about, command := aboutContests(game), ctx.Selected()
		for _, f := range command.Flags {
			if f.Group != nil && about != "" {
				games := strings.Split(f.Group.Key, ", ")
				f.Hidden = aboutContests(games[0]) != "" && !slices.Contains(games, game)
			}
		}
		if about != "" {
			command.Detail = strings.Replace(command.Detail, program.Named(aboutContests("")), program.Named(about), 1)
		}
	}
	return kong.DefaultHelpPrinter(o, ctx)
}

func aboutContests(game string) string {
	var b strings.Builder
	for _, e := range hosted() {
		if game == "" || e.Game == game {
			fmt.Fprintf(&b, "\n%s: %s\n", e.Game, strings.TrimSpace(e.Host.About))
		}
	}
	return b.String()
}

func settingsText(c *contest.Contest, given contest.Settings) string {
	var text []string
	for _, o := range c.Options {
		if v, ok := given[o.Name]; ok {
			text = append(text, "--"+o.Name+" "+v)
		}
	}
	return strings.Join(text, " ")
}
