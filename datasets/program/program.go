// Package program has what all programs of the project have in common: a command line with help, version and
// exit status (Program), the streams and the progress bar of a command (Console, Bar), the signals that end it
// (Context), and the file that says how a result was made (Run). Below it are files that are never half written (disk),
// HTTP servers (web), and health checks and metrics (ops).
//
// It knows no program: it imports nothing of the project but what is below it.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"blockyard/datasets/program/named"
)

const (
	// Done, Failed and Wrong are the exit statuses of every program.
	Done   = 0
	Failed = 1 // or differences were found
	Wrong  = 2 // the command line is
)

// Usage marks an error in the command line that a command finds. The exit status is then Wrong.
func Usage(err error) error { return usageError{err} }

// A usageError is an error in the command line; see Usage.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// ErrFound says that a command has printed differences: the exit status is Failed, and nothing more is printed.
var ErrFound = errors.New("differences were found")

// A Status is the exit status of a command that has said all that there is to say.
type Status int

// Error returns "exit status N"; a program that ends with a Status prints no error.
func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// A Program is a command line with several commands, the same in every way but what the commands do.
type Program struct {
	Name     string        // in help and errors; Called may replace it
	About    string        // what --help says of the program
	Version  string        // instead of that of Read; "" for none
	Commands any           // a pointer to a struct of commands for kong, which embeds Flag
	Options  []kong.Option // such as variables of help texts
}

// Main runs the command line of this process and returns the exit status. The context of a command that asks for one
// ends with the first signal that asks the process to end; a command without a context is ended by the signal.
func (p *Program) Main() int {
	stop := func() {}
	defer func() { stop() }()
	out := &output{file: os.Stdout}
	con := &Console{os.Stdin, out, os.Stderr}
	log.SetOutput(con.plain().Err) // of libraries
	status := p.run(os.Args[1:], con, kong.BindToProvider(
		func() (ctx context.Context, err error) {
			ctx, stop = Context()
			return ctx, nil
		}))
	if err := out.failed.Load(); err != nil && status == Done {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Called(p.Name), *err)
		return Failed
	}
	return status
}

// Run runs a command line and returns the exit status; commands' Run may take a context.Context and a *Console.
func (p *Program) Run(ctx context.Context, args []string, con *Console) int {
	return p.run(args, con, kong.BindTo(ctx, (*context.Context)(nil)))
}

// Parse parses and checks a command line without running its command.
func (p *Program) Parse(ctx context.Context, args []string) (*kong.Context, error) {
	con := &Console{os.Stdin, os.Stdout, os.Stderr}
	parser, err := p.parser(args, con.plain(), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		return nil, err
	}
	command, err := parser.Parse(args)
	if err == nil {
		err = refuse(command)
	}
	return command, err
}

// parser is what parses args.
func (p *Program) parser(args []string, con *Console, more ...kong.Option) (*kong.Kong, error) {
	info, name := Read(), Called(p.Name)
	info.Version = cmp.Or(p.Version, info.Version)
	options := []kong.Option{
		kong.Name(name), kong.Description(p.About), kong.Vars{"version": info.Line(name)},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.ValueFormatter(helpOf), // every default once
		kong.Writers(con.Out, con.Err), kong.WithHyphenPrefixedParameters(true), kong.Bind(con),
	}
	commands, alone := p.only(args)
	k, err := kong.New(commands, slices.Concat(options, p.Options, more, alone)...)
	if err == nil {
		for _, c := range k.Model.Leaves(false) {
			c.Help, c.Detail = Named(c.Help), Named(c.Detail)
		}
	}
	return k, err
}

// Named is named.Text. Help texts and errors that a command returns are so already.
func Named(text string) string { return named.Text(text) }

func (p *Program) run(args []string, con *Console, context kong.Option) int {
	name, status, con, bare := Called(p.Name), -1, con.plain(), len(args) == 0
	if bare { // the list of commands says what is missing
		args, con.Out = []string{"--help"}, con.Err
	} else if args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	parser, err := p.parser(args, con, context, kong.Exit(func(code int) { status = code }))
	if err != nil {
		fmt.Fprintln(con.Err, name+":", err)
		return Failed
	}
	command, err := parser.Parse(args)
	hint := ""
	switch {
	case bare:
		return Wrong
	case status >= 0: // help or the version was asked for
		return status
	case err != nil:
		hint = helpFor(name, err)
	default:
		if err = refuse(command); err != nil {
			hint = command.Selected().FullPath() + " --help explains the flags"
		}
	}
	if err != nil {
		fmt.Fprintf(con.Err, "%s: %s\n%s\n", name, Named(err.Error()), hint)
		return Wrong
	}
	said := Status(0)
	switch err := command.Run(); {
	case err == nil:
		return Done
	case errors.Is(err, ErrFound):
		return Failed
	case errors.As(err, &said):
		return int(said)
	default:
		fmt.Fprintln(con.Err, name+":", Named(strings.ReplaceAll(err.Error(), "context canceled", "interrupted")))
		if errors.As(err, new(usageError)) {
			return Wrong
		}
		return Failed
	}
}

// refuse refuses flags that would say nothing: an empty value, as of a script's unset variable, of one without the tag
// empty; and one without effect beside the other flags and arguments, as its tag needs says and those of the embedded
// structs that it is in, unless its own is empty. needs:"A|B=VALUE !C" wants A, or B with that value, and no C. What a
// command does not have counts as if the rule did not name it.
func refuse(command *kong.Context) error {
	given, all := map[string]bool{}, map[string]*kong.Value{}
	for _, p := range command.Path {
		switch {
		case p.Flag != nil:
			given[p.Flag.Name] = p.Flag.Target.Kind() != reflect.Bool || p.Flag.Target.Bool()
		case p.Positional != nil:
			given[p.Positional.Name] = true
		}
	}
	for _, f := range command.Flags() {
		all[f.Name] = f.Value
	}
	for _, a := range command.Selected().Positional {
		all[a.Name] = a
	}
	holds := func(rule string) bool {
		name, value, set := strings.Cut(rule, "=")
		return !set && given[name] || set && fmt.Sprint(all[name].Target) == value
	}
	unknown := func(rule string) bool {
		name, _, _ := strings.Cut(rule, "=")
		return all[name] == nil
	}
	inherited := map[uintptr]string{}
	needs(command.Selected().Target, "", inherited)
	for _, p := range command.Path {
		if p.Flag == nil || !given[p.Flag.Name] {
			continue
		}
		v := reflect.Indirect(p.Flag.Target)
		if v.Kind() == reflect.String && v.Len() == 0 && !p.Flag.Tag.Has("empty") {
			return fmt.Errorf("--%s: empty, want a value: leave the flag out for its default", p.Flag.Name)
		}
		for _, need := range strings.Fields(inherited[p.Flag.Target.Addr().Pointer()]) {
			without, negative := strings.CutPrefix(need, "!")
			rules := slices.DeleteFunc(strings.Split(without, "|"), unknown)
			switch met := slices.ContainsFunc(rules, holds); {
			case len(rules) == 0 || met != negative:
			case negative:
				other := flagText(all, rules[0])
				return fmt.Errorf("--%s has no effect with %s: leave one of them out", p.Flag.Name, other)
			default:
				for k, rule := range rules {
					rules[k] = flagText(all, rule)
				}
				return fmt.Errorf("--%s needs %s", p.Flag.Name, strings.Join(rules, " or "))
			}
		}
	}
	return nil
}

// flagText is what a rule names, as on the command line.
func flagText(all map[string]*kong.Value, rule string) string {
	name, value, _ := strings.Cut(rule, "=")
	if all[name].Flag == nil {
		return cmp.Or(value, strings.ToUpper(name))
	}
	return "--" + rule
}

// needs notes the tags needs of the flags of a command's struct, by their addresses.
func needs(of reflect.Value, above string, into map[uintptr]string) {
	for field, value := range of.Fields() {
		tag, own := field.Tag.Lookup("needs")
		if tag != "" || !own {
			tag += " " + above
		}
		if _, embed := field.Tag.Lookup("embed"); (embed || field.Anonymous) && value.Kind() == reflect.Struct {
			needs(value, tag, into)
		} else if value.Type() == reflect.TypeFor[kong.Plugins]() {
			for _, p := range value.Interface().(kong.Plugins) {
				needs(reflect.ValueOf(p).Elem(), tag, into)
			}
		} else if value.CanAddr() {
			into[value.Addr().Pointer()] = tag
		}
	}
}

// helpFor says where to look after a wrong command line. For an unknown flag it lists those of the command.
func helpFor(program string, err error) string {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || wrong.Context.Selected() == nil {
		return program + " --help lists the commands"
	}
	command := wrong.Context.Selected()
	if !strings.HasPrefix(err.Error(), "unknown flag") {
		return command.FullPath() + " --help explains the flags"
	}
	var known []string
	for _, f := range command.Flags {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	}
	slices.Sort(known)
	return fmt.Sprintf("the flags of %s are %s", command.FullPath(), strings.Join(known, " "))
}

// helpOf adds its default to a help text, and the flag that it needs to one that begins with a small letter. Kong shows
// the default of a flag without a placeholder itself.
func helpOf(v *kong.Value) string {
	text := Named(kong.DefaultHelpValueFormatter(v))
	if needs := v.Tag.Get("needs"); needs != "" && text != "" && unicode.IsLower(rune(text[0])) {
		needs, _, _ = strings.Cut(needs, " ")
		text = "With --" + needs + ": " + text
	}
	if v.Default == "" || v.Flag != nil && v.Flag.PlaceHolder == "" {
		return text
	}
	return text + " Default: " + v.Default + "."
}

// Longer gives commands longer descriptions, "serve tetris" that in help/serve-tetris.txt, before their method Help's.
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

// moment is how long signals count as the first: timeout signals a process, and then its group.
const moment = 200 * time.Millisecond

// Context returns a context that ends with the first SIGINT (Ctrl-C) or SIGTERM. One of these signals that comes more
// than a moment later ends the process, whatever it is doing. stop lets already the first one do so.
func Context() (ctx context.Context, stop context.CancelFunc) {
	return heed(func(f func()) { time.AfterFunc(moment, f) })
}

// heed is Context with the clock that calls a function after a moment.
func heed(after func(func())) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	ignore := func() { signal.Stop(heard) } // the next signal ends the process
	go func() {
		select {
		case <-heard:
			cancel()
			after(ignore)
		case <-ctx.Done():
			ignore()
		}
	}()
	return ctx, cancel
}

// Sleep waits for d, or until ctx ends. Then it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
