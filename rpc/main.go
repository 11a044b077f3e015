// Rpc serves games over sockets, and measures what that costs.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// versionFile is the version of the server and of its Python client.
//
//go:embed python/blockyard/VERSION
var versionFile string

// version is told to clients.
var version = strings.TrimSpace(versionFile)

// table is the program's commands.
type table struct {
	Serve serveCmd `cmd:"" help:"Serve games on a unix socket or a TCP port until SIGTERM or SIGINT."`
	Ping  pingCmd  `cmd:"" help:"Ask a server whether it answers, and what it does."`
	Bench benchCmd `cmd:"" help:"Compare stepping in process, through shared memory, a unix socket and TCP, in one run."`
	Floor floorCmd `cmd:"" hidden:"" help:"Answer bare messages, for bench."`
}

const about = `Rpc serves thousands of games at once to programs in any language.

The protocol is msgpack-rpc; rpc/PROTOCOL.md shows every message with its bytes.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// run runs a command line and returns the exit status: 0 done, 1 failed, 2 bad usage.
func run(ctx context.Context, args []string) int {
	var t table
	status := -1
	parser, err := kong.New(&t,
		kong.Name("rpc"), kong.Description(about), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Vars(vars()),
		kong.Exit(func(code int) { status = code }),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rpc:", err)
		return 1
	}
	command, err := parser.Parse(args)
	switch {
	case status >= 0: // help was asked for
		return status
	case err != nil:
		fmt.Fprintf(os.Stderr, "rpc: %v\nrpc --help tells more\n", err)
		return 2
	}
	if err := command.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "rpc:", err)
		return 1
	}
	return 0
}
