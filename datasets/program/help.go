package program

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/BurntSushi/toml"
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

// Longer gives commands their longer descriptions, which are printed with the flags: that of the command "serve tetris"
// is the file help/serve-tetris.txt. What the method Help of a command returns follows it.
func Longer(files fs.FS) kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		for _, c := range k.Model.Leaves(false) {
			text, err := fs.ReadFile(files, "help/"+strings.Join(strings.Fields(c.Path()), "-")+".txt")
			if errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return err
			}
			c.Detail = strings.TrimSuffix(string(text), "\n") + c.Detail
		}
		return nil
	})
}

// Texts reads the help texts of flags, by the names of their variables, from TOML.
func Texts(text string) kong.Vars {
	v := kong.Vars{}
	if _, err := toml.Decode(text, &v); err != nil {
		panic(err) // a file of the program
	}
	return v
}
