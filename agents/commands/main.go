// Package commands is the command line of the program agents: a file per command, which parses flags and calls the
// packages that do the work.
package commands

import (
	"embed"
	"os"

	"github.com/alecthomas/kong"

	"blockyard/agents/contest/library"
	"blockyard/agents/fleet/broker"
	"blockyard/datasets/program"
)

type table struct {
	program.Flag
	Arena      arenaCmd      `cmd:"" help:"Play many paired games between two agents and say which is stronger."`
	Ladder     ladderCmd     `cmd:"" help:"Play a round robin between any number of agents and programs and rate them."`
	Play       playCmd       `cmd:"" help:"Play one game, to watch it or to record it."`
	Analyze    analyzeCmd    `cmd:"" help:"Say what a recorded position's best moves were, and what the move played lost."`
	Sign       signCmd       `cmd:"" help:"Print a hash of every agent's games, to see whether a change alters its play."`
	Bot        botCmd        `cmd:"" help:"Play in a contest with a text protocol on standard input and output."`
	Host       hostCmd       `cmd:"" help:"Play a contest between programs in any language."`
	Tournament tournamentCmd `cmd:"" help:"Play a tournament between agents, programs and submissions."`
	Serve      serveTable    `cmd:"" help:"Run the server of a contest whose teams play over the network."`
	Bundle     bundleCmd     `cmd:"" help:"Write a contest bot as one self-contained source file."`
	Programs   programsCmd   `cmd:"" hidden:"" help:"Write the programs that bundle builds networks into."`
}

const about = `Play block games with agents and programs, and measure which is strongest.

An AGENT is random, first (the first legal action), hand (the hand-tuned baseline) or learned
(with the trained network); some games have more. Options follow a colon, as in hand:ply=1
or learned:ply=3,width=8,weights=FILE,time=50ms,eps=0.1. exec:CMD is a program that speaks the
contest's protocol; an archive, source file or folder is compiled to one; human is you, in play.
NAME=AGENT gives an agent a name to show. The error for an unknown name lists the known ones.`

//go:embed help
var help embed.FS

// Main runs the command line of this process and returns its exit status.
func Main() int {
	if ServesPlugin() {
		_ = library.Serve(os.Args[2]) // tells errors to the parent
		return 1
	}
	return Program().Main()
}

// ServesPlugin reports whether this process is a child of play --plugin, which runs the solver's library for it.
func ServesPlugin() bool { return len(os.Args) == 3 && os.Args[1] == library.ServeArgument }

// Program returns the program with its commands.
func Program() *program.Program {
	t := new(table)
	t.Host.contestFlags, t.Tournament.contestFlags = newContestFlags(false), newContestFlags(true)
	options := []kong.Option{broker.Helps, program.Longer(help), kong.Help(printHelp)}
	return &program.Program{Name: "agents", About: about, Commands: t, Options: options}
}
