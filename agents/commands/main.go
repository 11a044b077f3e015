// Package commands is the command line of the program agents: a file per command.
package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blockyard/agents/fleet/broker"
	interrupt "blockyard/datasets/program"
	release "blockyard/datasets/program"
	"blockyard/env/games"
)

// table lists the commands.
type table struct {
	release.Flag
	Arena      arenaCmd      `cmd:"" help:"Play many paired games between two agents and say which is stronger."`
	Ladder     ladderCmd     `cmd:"" help:"Play a round robin between any number of agents and programs and rate them."`
	Play       playCmd       `cmd:"" help:"Play one game, to watch it or to record it."`
	Analyze    analyzeCmd    `cmd:"" help:"Say what a recorded position's best moves were, and what the move played lost."`
	Sign       signCmd       `cmd:"" help:"Print a hash of every agent's games, to see whether a change alters its play."`
	Bot        botCmd        `cmd:"" help:"Play in a contest with a text protocol on standard input and output."`
	Host       hostTable     `cmd:"" help:"Play a contest between programs in any language."`
	Tournament tournamentCmd `cmd:"" help:"Play a tournament between agents, programs and submissions."`
	Serve      serveTable    `cmd:"" help:"Run the server of a contest whose teams play over the network."`
	Bundle     bundleCmd     `cmd:"" help:"Write a contest bot as one self-contained source file."`
	Tune       tuneCmd       `cmd:"" help:"Tune the weights of a baseline agent by games against itself."`
}

const about = `Play block games with agents and programs, and measure which is strongest.

An AGENT is random, first (the first legal action), hand (the hand-tuned baseline) or learned
(with the trained network); some games have more. Options follow a colon, as in hand:ply=1
or learned:ply=3,width=8,weights=FILE,time=50ms. exec:CMD is a program that speaks the
contest's protocol. The error for an unknown name lists the known ones.`

// Main runs the command line of this process and returns its exit status.
func Main() int {
	ctx, stop := interrupt.Context()
	defer stop()
	con := &console{os.Stdin, os.Stdout, os.Stderr}
	if status, asked := servePlugin(os.Args[1:]); asked {
		return status
	}
	return run(ctx, os.Args[1:], con)
}

// run runs a command line and returns the exit status: 0 done, 1 failed, 2 bad usage.
func run(ctx context.Context, args []string, con *console) int {
	var t table
	status := -1
	name := release.Program("agents")
	parser, err := kong.New(&t,
		kong.Name(name), release.Vars(name, release.Read()), kong.Description(about), kong.Writers(con.out, con.err),
		release.Help(),
		kong.Vars{"dropblox_ai": defaultProgram}, broker.Helps,
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(con),
		kong.Exit(func(code int) { status = code }),
	)
	if err != nil {
		fmt.Fprintln(con.err, name+":", err)
		return 1
	}
	var command *kong.Context
	if args, err = hostArgs(args); err == nil {
		command, err = parser.Parse(signedSeeds(args))
	}
	switch {
	case status >= 0: // help or the version was asked for
		return status
	case err != nil:
		fmt.Fprintf(con.err, "%s: %v\n%s\n", name, err, helpFor(name, err))
		return 2
	}
	if err := refuseEmpty(command); err != nil {
		fmt.Fprintf(con.err, "%s: %v\n%s --help explains the flags\n", name, err, command.Selected().FullPath())
		return 2
	}
	if err := command.Run(); err != nil {
		fmt.Fprintln(con.err, name+":", err)
		if errors.As(err, new(usage)) {
			return 2
		}
		return 1
	}
	return 0
}

// refuseEmpty returns an error for a flag that was given an empty value, as by a script whose variable is not set, and
// does not say with the tag empty that it has a meaning.
func refuseEmpty(command *kong.Context) error {
	for _, p := range command.Path {
		if p.Flag == nil || p.Flag.Tag.Has("empty") {
			continue
		}
		v := reflect.Indirect(p.Flag.Target)
		if v.Kind() == reflect.String && v.Len() == 0 {
			return fmt.Errorf("--%s: empty, want a value: leave the flag out for its default", p.Flag.Name)
		}
	}
	return nil
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

// usage is an error in the command line.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// hostArgs rewrites a command line of host so that the subcommand is the game's name without
// its variant, wherever among the flags it stands: "host match --seed 3 blockbattle:port"
// becomes "host blockbattle --game=blockbattle:port --seed 3".
func hostArgs(args []string) ([]string, error) {
	if len(args) == 0 || args[0] != "host" {
		return args, nil
	}
	at := firstWord(args, 1)
	if at < len(args) && args[at] == "match" {
		if next := firstWord(args, at+1); next < len(args) {
			args = slices.Delete(slices.Clone(args), at, at+1)
			at = next - 1
		}
	}
	none := at == len(args) || args[at] == "match"
	help := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	switch {
	case none && help, !none && args[at] == "dropblox":
		return args, nil
	case none:
		return nil, errors.New("no game: want agents host GAME with blockbattle, tetrisduel, blocking or dropblox")
	}
	g, err := games.Open(args[at])
	if err != nil {
		return nil, err
	}
	base, _, _ := strings.Cut(g.Name, ":")
	if !slices.Contains([]string{"blockbattle", "tetrisduel", "blocking"}, base) {
		return nil, fmt.Errorf("%s has no contest between programs that talk in lines", g.Name)
	}
	out := append([]string{"host", base, "--game=" + g.Name}, args[1:at]...)
	return append(out, args[at+1:]...), nil
}

// firstWord returns the index of the first argument from i on that is neither a flag nor a
// flag's value, or len(args).
func firstWord(args []string, i int) int {
	for ; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		alone := []string{"--json", "--quiet", "-q", "--help", "-h"}
		if !strings.Contains(args[i], "=") && !slices.Contains(alone, args[i]) {
			i++ // the flag's value
		}
	}
	return min(i, len(args))
}

// signedSeeds rewrites a command line of host dropblox so that a negative seed is not parsed
// as a flag.
func signedSeeds(args []string) []string {
	if len(args) < 2 || args[0] != "host" || args[1] != "dropblox" {
		return args
	}
	out := slices.Clone(args[:2])
	for _, a := range args[2:] {
		last := len(out) - 1
		switch {
		case !negative.MatchString(a):
			out = append(out, a)
		case out[last] == "--seed" || out[last] == "--seeds":
			out[last] += "=" + a
		default:
			out = append(out, "--seed="+a)
		}
	}
	return out
}

var negative = regexp.MustCompile(`^-[0-9][0-9,+-]*$`)
