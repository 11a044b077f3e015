// Package commands is the command line of the program agents: a file per command.
package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blockyard/agents/fleet/broker"
	"blockyard/datasets/program"
	"blockyard/env/games"
)

// table lists the commands.
type table struct {
	program.Flag
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
contest's protocol; an archive, source file or folder is compiled to one; human is you, in play.
NAME=AGENT gives an agent a name to show. The error for an unknown name lists the known ones.`

// Main runs the command line of this process and returns its exit status.
func Main() int {
	if status, asked := servePlugin(os.Args[1:]); asked {
		return status
	}
	ctx, stop := program.Context()
	defer stop()
	return run(ctx, os.Args[1:], &console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// commandLine is the program.
func commandLine() *program.Program {
	return &program.Program{Name: "agents", About: about, Commands: new(table),
		Options: []kong.Option{kong.Vars{"dropblox_ai": defaultProgram}, broker.Helps}}
}

// run runs a command line and returns the exit status.
func run(ctx context.Context, args []string, con *console) int {
	args, err := hostArgs(args)
	if err != nil {
		fmt.Fprintf(con.Err, "agents: %v\nagents --help lists the commands\n", err)
		return program.Wrong
	}
	return commandLine().Run(ctx, signedSeeds(args), con)
}

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
