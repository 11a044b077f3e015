// Package commands is the command line of the program rpc: a file per command.
package commands

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	interrupt "blockyard/datasets/program"
	release "blockyard/datasets/program"
	"blockyard/rpc/client"
	"blockyard/rpc/server"
)

// version is the version that clients see.
var version string

// table is the program's commands.
type table struct {
	release.Flag
	Serve serveCmd `cmd:"" help:"Serve games on unix sockets or TCP ports until SIGTERM or SIGINT."`
	Ping  pingCmd  `cmd:"" help:"Check that a server responds, and print its statistics."`
}

const about = `Serve thousands of games at once to programs in any language.

The protocol is msgpack-rpc; rpc/PROTOCOL.md specifies every message.`

// Main runs the command line of this process as that version of the server and returns its exit status.
func Main(v string) int {
	version = v
	ctx, stop := interrupt.Context()
	defer stop()
	return run(ctx, os.Args[1:])
}

// run runs a command line and returns the exit status: 0 done, 1 failed, 2 bad usage.
func run(ctx context.Context, args []string) int {
	t := table{Serve: serveCmd{Limits: server.DefaultLimits()}}
	info := release.Read()
	info.Version = version
	status := -1
	parser, err := kong.New(&t,
		kong.Name(name()), kong.Description(about), kong.UsageOnError(),
		release.Help(),
		kong.BindTo(ctx, (*context.Context)(nil)), vars(), release.Vars(name(), info),
		kong.Exit(func(code int) { status = code }),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, name()+":", err)
		return 1
	}
	command, err := parser.Parse(args)
	switch {
	case status >= 0: // help was asked for
		return status
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v (see %[1]s --help)\n", name(), err)
		return 2
	}
	if err := command.Run(); err != nil {
		fmt.Fprintln(os.Stderr, name()+":", err)
		return 1
	}
	return 0
}

// name is the program's name in help and errors: "rpc", or that of the Python package, whose
// command line starts the server under its own name.
func name() string { return release.Program("rpc") }

type pingCmd struct {
	Address string `arg:"" help:"Address of the server: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT or http://HOST:PORT."`
	CA      string `name:"ca" type:"existingfile" placeholder:"FILE" help:"${ca_help}"`
	Token   string `env:"BLOCKYARD_TOKEN" placeholder:"TEXT" help:"Token that the server requires."`
}

// Help is printed with the flags.
func (*pingCmd) Help() string {
	return "http://HOST:PORT is the address of --http: then only its /healthz is asked, which needs no token."
}

// healthTimeout bounds the request for /healthz.
const healthTimeout = 5 * time.Second

// health asks for /healthz of a server with --http. Containers without a shell check their health so.
func health(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/healthz", nil)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s, want 200 OK: is it the address of --http?", q.URL, reply.Status)
	}
	fmt.Println(q.URL, "answers", reply.Status)
	return nil
}

// Run prints the round-trip time and the statistics of the server.
func (c *pingCmd) Run(ctx context.Context) error {
	if strings.HasPrefix(c.Address, "http://") {
		return health(ctx, c.Address)
	}
	var trust *tls.Config
	if c.CA != "" {
		pool, err := server.Authorities(c.CA)
		if err != nil {
			return err
		}
		trust = &tls.Config{RootCAs: pool}
	}
	conn, err := client.DialTLS(ctx, c.Address, c.Token, trust)
	if err != nil {
		return err
	}
	defer conn.Close()
	start := time.Now()
	if err := conn.Call("ping", nil); err != nil {
		return err
	}
	took := time.Since(start)
	var stats map[string]any
	if err := conn.Call("stats", &stats); err != nil {
		return err
	}
	fmt.Printf("%s answers in %v\n", c.Address, took)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(stats)
}
