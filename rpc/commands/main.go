// Package commands is the command line of the program rpc: a file per command.
package commands

import (
	"fmt"
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
		all = append(all, null(n))
	}
	return all
}

// null returns the game null:N of two seats, with observations as long as those of n rows of other games.
func null(n int) *env.Game {
	g := *toy.Pick
	g.Name, g.ID = fmt.Sprintf("null:%d", n), fmt.Sprintf("Null%d-v0", n)
	g.Planes, g.PlaneNames = env.Shape{C: 1, H: max(1, n/2), W: 245}, []string{"nothing"} // for two rows
	g.New = func(seats int) env.State { return &nullState{*toy.Pick.New(seats).(*toy.State)} }
	return &g
}

// A nullState is a game that never ends and whose large boards are never written.
type nullState struct{ toy.State }

func (s *nullState) Step(m env.Moves) {
	s.State.Step(m)
	s.Played, s.Points = 0, [env.MaxSeats]uint8{}
}

func (s *nullState) CopyFrom(src env.State) { *s = *src.(*nullState) }

// Observe implements env.State without writing the boards.
func (s *nullState) Observe(seat int, _ []uint8, globals []float32) {
	var planes [12]uint8
	s.State.Observe(seat, planes[:], globals)
}
