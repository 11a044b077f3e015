// Package commands is the command line of the program rpc: a file per command.
package commands

import (
	"slices"

	"github.com/alecthomas/kong"

	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
)

// version is the version that clients see.
var version = program.Read().Version

// table is the program's commands.
type table struct {
	program.Flag
	Serve    serveCmd    `cmd:"" help:"Serve games on unix sockets or TCP ports until a signal."`
	Ping     pingCmd     `cmd:"" help:"Check that a server responds, and print its statistics."`
	Reverify reverifyCmd `cmd:"" help:"${reverify_help}"`
}

const about = `Serve thousands of games at once to programs in any language.

The protocol is msgpack-rpc; rpc/PROTOCOL.md specifies every message.`

// Main runs the command line of this process and returns its exit status.
func Main() int { return Program().Main() }

// MainOf is Main for that version of the server.
func MainOf(v string) int {
	version = v
	return Main()
}

// Program is the program. Its name in help and errors is "rpc", or that of the Python package, whose command line
// starts the server under its own name.
func Program() *program.Program {
	return &program.Program{Name: "rpc", About: about, Version: version, Options: []kong.Option{vars()},
		Commands: &table{Serve: serveCmd{Limits: defaultLimits()}}}
}

// withToys returns all games and those of --toy: two toy games, and null games, which measure the transport alone.
func withToys() []*env.Game {
	all := slices.Concat(games.All, []*env.Game{toy.Pick, toy.Turns})
	for _, n := range []int{1, 64, 1024, 4096, 16384} {
		all = append(all, toy.Null(n))
	}
	return all
}
