package program

import (
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// verbs are the commands of a struct for kong, by their words on the command line.
func verbs(commands reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for f := range commands.Fields() {
			if _, is := f.Tag.Lookup("cmd"); is && !yield(strings.ToLower(f.Name), f) {
				return
			}
		}
	}
}

// wordsOf are the first words of a program's command lines.
func wordsOf(p *Program) (words []string) {
	for word := range verbs(reflect.TypeOf(p.Commands).Elem()) {
		words = append(words, word)
	}
	return words
}

// begun counts the words of args that are a command in a struct for kong, without making slow parsers.
func begun(commands reflect.Type, args []string) int {
	for word, f := range verbs(commands) {
		if len(args) > 0 && word == args[0] {
			return 1 + begun(f.Type, args[1:])
		}
	}
	return 0
}

// only is the commands that args may be of, for kong: the one that they begin with, as a model of all takes most of the
// time that a program needs to begin. Help shows all of them.
func (p *Program) only(args []string) (commands any, alone []kong.Option) {
	if len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return p.Commands, nil
	}
	all := reflect.ValueOf(p.Commands).Elem()
	for word, f := range verbs(all.Type()) {
		if word == args[0] {
			command := all.FieldByIndex(f.Index).Addr().Interface()
			alone = append(alone, kong.DynamicCommand(word, f.Tag.Get("help"), f.Tag.Get("group"), command, string(f.Tag)))
			return new(struct{ Flag }), alone
		}
	}
	return p.Commands, nil
}
