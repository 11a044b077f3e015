package program

import (
	"errors"

	"github.com/alecthomas/kong"
)

// help is how the programs print their help: commands without their flags, and every default value once.
func help() kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		compact := kong.ConfigureHelp(kong.HelpOptions{Compact: true})
		return errors.Join(compact.Apply(k), kong.ValueFormatter(helpOf).Apply(k))
	})
}

// helpOf returns the help text of a flag or argument with its default. Kong itself shows the default of a flag without
// a placeholder, as in --games=400.
func helpOf(v *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(v)
	if v.Default == "" || v.Flag != nil && v.Flag.PlaceHolder == "" {
		return text
	}
	return text + " Default: " + v.Default + "."
}
