package main

import (
	"bytes"
	"context"
	_ "embed"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
)

// modes has a line "COMMAND LINE: FLAGS" for every way to use a command: the flags that have an effect then, besides
// those of the line. A new flag is to be refused everywhere until a line has it, and every command has a line.
//
//go:embed testdata/modes.txt
var modes string

// Of every command of all programs, a flag that has no effect in a mode is an error that names it: none is silently
// ignored.
func TestNoFlagIsIgnored(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("file", nil, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no command begins what it does
	tried := map[string]bool{}
	for text := range strings.Lines(modes) {
		line, effective, _ := strings.Cut(strings.TrimSuffix(text, "\n"), ": ")
		words := strings.Fields(line)
		command, k := find(t, words)
		p := parts()[k]
		tried[command.Path()] = true
		for _, f := range command.Flags {
			if f.Hidden || f.Name == "help" || regexp.MustCompile(" --"+f.Name+`\b[^-]`).MatchString(line+" ") {
				continue
			}
			args := append(slices.Clone(words), "--"+f.Name+sample(f))
			wanted, said := slices.Contains(strings.Fields(effective), f.Name), ""
			if _, err := p.Parse(ctx, args); err != nil {
				said = err.Error()
			}
			named := regexp.MustCompile("--" + f.Name + `\b[^-]`)
			if !wanted && !named.MatchString(said) { // then the command refuses it
				var errs bytes.Buffer
				status := parts()[k].Run(ctx, args, &program.Console{In: strings.NewReader(""), Out: new(bytes.Buffer), Err: &errs})
				require.NotEqual(t, program.Done, status, "%q has no effect, and no error", args)
				said = errs.String()
			}
			require.Equal(t, wanted, !named.MatchString(said), "%q: %s", args, said)
		}
	}
	for _, part := range parts() {
		for _, command := range leaves(t, part.Program) {
			require.True(t, tried[command.Path()], "testdata/modes.txt has no line for %s", command.Path())
		}
	}
}

func leaves(t *testing.T, p *program.Program) []*kong.Node {
	var failed *kong.ParseError
	_, err := p.Parse(t.Context(), nil)
	require.ErrorAs(t, err, &failed)
	return failed.Context.Model.Leaves(true)
}

// find returns the command whose words begin a line, the longest, and the number of its program.
func find(t *testing.T, line []string) (command *kong.Node, of int) {
	for k, part := range parts() {
		for _, c := range leaves(t, part.Program) {
			if strings.HasPrefix(strings.Join(line, " ")+" ", c.Path()+" ") &&
				(command == nil || len(command.Path()) < len(c.Path())) {
				command, of = c, k
			}
		}
	}
	require.NotNil(t, command, line)
	return command, of
}

// sample returns a value of a flag, not its default, as it stands behind its name.
func sample(f *kong.Flag) string {
	switch kind := strings.TrimLeft(f.Target.Type().String(), "*[]"); {
	case f.IsBool():
		return ""
	case f.Enum != "":
		return "=" + f.EnumSlice()[len(f.EnumSlice())-1]
	case f.PlaceHolder == "KIND":
		return "=score"
	case f.PlaceHolder == "AGENT":
		return "=hand"
	case f.Tag.Type == "existingdir":
		return "=."
	case kind == "time.Duration":
		return "=3s"
	case kind != "string" && kind != "web.Names":
		return "=2"
	}
	return "=file"
}
