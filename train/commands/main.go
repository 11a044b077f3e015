// Package commands is the command line of the program train: a file per command.
package commands

import (
	"os"
	"runtime"

	"github.com/alecthomas/kong"

	"blockyard/agents/fleet/broker"
	"blockyard/datasets/program"
	"blockyard/train/selfplay"
)

// A table has the commands of the program, each with its flags, in the order of the help.
type table struct {
	program.Flag
	Selfplay selfplayCmd `cmd:"" help:"Train a network by self-play."`
	Join     join        `cmd:"" help:"Play for a run or a match with --cluster, from anywhere."`
	Cluster  clusterCmd  `cmd:"" help:"Look at the runs of a broker."`
	Curves   curves      `cmd:"" help:"Draw the scores of several runs in one picture."`
	Regret   regret      `cmd:"" help:"Judge agents by decisions whose actions have values."`
	Fit      fit         `cmd:"" help:"Fit a network to recorded games."`
}

// Main runs the command line of this process and returns its exit status. It makes collections of garbage rarer; see
// reserve.
func Main() int {
	defer reserve()()
	return Program().Main()
}

// Program returns the command line "train", ready to run.
func Program() *program.Program {
	return &program.Program{Name: "train", Commands: new(table), Options: []kong.Option{broker.Helps,
		selfplay.FlagHelp},
		About: "Train networks by self-play or from records. Every command takes --help."}
}

// reserve makes the garbage collector wait until the heap has grown by another 32 MiB at least, unless GOGC is set: a
// worker holds little and makes as much garbage in a moment, and collections took a tenth of its CPU time. With more,
// the pages of a short process cost more than collections.
//
// Collections come when garbage amounts to what is in use. This counts as in use, but its pages are never written.
func reserve() (release func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	untouched := make([]byte, 32<<20)
	return func() { runtime.KeepAlive(untouched) }
}
