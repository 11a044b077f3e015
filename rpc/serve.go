package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"blockyard/env/games"
	"blockyard/rpc/server"
)

type serveCmd struct {
	Listen      []string      `required:"" placeholder:"ADDRESS" help:"unix:PATH, tcp:HOST:PORT or tls:HOST:PORT; may be given several times. Port 0 takes a free one, see the first line of output."`
	Token       string        `env:"BLOCKYARD_TOKEN" placeholder:"TEXT" help:"Clients must present this in hello. Better given by BLOCKYARD_TOKEN or --token-file: other users can read command lines."`
	TokenFile   string        `type:"existingfile" placeholder:"FILE" help:"File whose first line is the token."`
	Cert        string        `type:"existingfile" placeholder:"FILE" help:"Certificate of this server for tls:, PEM."`
	Key         string        `type:"existingfile" placeholder:"FILE" help:"Its private key, PEM."`
	ClientCA    string        `name:"client-ca" type:"existingfile" placeholder:"FILE" help:"Clients over tls: must show a certificate signed by one of these, PEM."`
	ParentDeath bool          `help:"End when standard input reaches its end, as it does when the starting program dies."`
	IdleExit    time.Duration `placeholder:"DURATION" help:"End after this long without a connection."`
	TrustSpecs  bool          `help:"Let clients name opponents that read files or run commands here."`
	Workers     int           `help:"Goroutines that step one client's games; 0 is one for each core." default:"0"`
	Toy         bool          `hidden:"" help:"Serve the games of tests too."`
	Verbose     bool          `short:"v" help:"Log sessions too."`

	MaxMessage  int   `default:"${max_message}" help:"Bytes of one request."`
	MaxReply    int   `default:"${max_reply}" help:"Bytes of one answer that is not a step's."`
	MaxBuffered int64 `default:"${max_buffered}" help:"Bytes of requests being received, of all connections together."`
	MaxReplies  int64 `default:"${max_replies}" help:"Bytes of such answers in the making, of all connections together."`
	MaxInflight int   `default:"${max_inflight}" help:"Requests of a connection that wait for an answer."`
	MaxSessions int   `default:"${max_sessions}" help:"Connections."`
	MaxHandles  int   `default:"${max_handles}" help:"Open handles of a connection."`
	MaxEnvs     int   `default:"${max_envs}" help:"Open games of all connections together."`
	MaxMemory   int64 `default:"${max_memory}" help:"Bytes of all open games, estimated."`
}

// vars are the defaults that the help shows.
func vars() map[string]string {
	l := server.DefaultLimits()
	text := func(v any) string { return fmt.Sprint(v) }
	return map[string]string{
		"max_message": text(l.MaxMessage), "max_reply": text(l.MaxReply), "max_buffered": text(l.MaxBuffered), "max_inflight": text(l.MaxInflight), "max_replies": text(l.MaxReplies),
		"max_sessions": text(l.MaxSessions), "max_handles": text(l.MaxHandles), "max_envs": text(l.MaxEnvs), "max_memory": text(l.MaxMemory),
	}
}

func (c *serveCmd) limits() (server.Limits, error) {
	l := server.DefaultLimits()
	l.MaxMessage, l.MaxReply, l.MaxBuffered, l.MaxInflight = c.MaxMessage, c.MaxReply, c.MaxBuffered, c.MaxInflight
	l.MaxReplies = c.MaxReplies
	l.MaxSessions, l.MaxHandles, l.MaxEnvs, l.MaxMemory = c.MaxSessions, c.MaxHandles, c.MaxEnvs, c.MaxMemory
	return l, l.Check()
}

// Run serves until ctx ends, a listener fails, or what --parent-death and --idle-exit
// wait for.
func (c *serveCmd) Run(ctx context.Context) error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.New("this machine is big endian; slabs are little endian and sent as they lie in memory")
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30) // garbage is rare here, and large when there is some
	}
	token, err := c.token()
	if err != nil {
		return err
	}
	limits, err := c.limits()
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	served := games.All
	if c.Toy {
		served = slices.Concat(games.All, toys)
	}
	srv := server.New(server.Config{
		Games: served, Version: version, Agents: players(c.TrustSpecs), Opponents: playerNames, Features: features,
		Token: token, Workers: c.Workers, Limits: limits,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
	listeners, err := listenAll(c.Listen, token, server.Credentials{Cert: c.Cert, Key: c.Key, ClientCA: c.ClientCA})
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	for _, l := range listeners {
		go func() {
			if err := srv.Serve(l); err != nil {
				end(err)
			}
		}()
	}
	c.watch(ctx, srv, end)
	if err := announce(os.Stdout, listeners); err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	<-ctx.Done()
	err = closeAll(listeners)
	return errors.Join(err, srv.Shutdown(context.Background()))
}

// token returns what hello must present.
func (c *serveCmd) token() (string, error) {
	if c.TokenFile == "" {
		return c.Token, nil
	}
	b, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("token file %s: its first line is empty", c.TokenFile)
	}
	return line, nil
}

// watch ends ctx when nobody needs the server any more.
func (c *serveCmd) watch(ctx context.Context, srv *server.Server, end context.CancelCauseFunc) {
	if c.ParentDeath {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it, the parent is gone
			end(nil)
		}()
	}
	if c.IdleExit <= 0 {
		return
	}
	go func() {
		tick := time.NewTicker(min(c.IdleExit/4+time.Millisecond, time.Second))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if srv.Idle() >= c.IdleExit {
					end(nil)
				}
			}
		}
	}()
}

func listenAll(addresses []string, token string, with server.Credentials) ([]net.Listener, error) {
	var all []net.Listener
	for _, a := range addresses {
		l, err := server.Listen(a, token, with)
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, l)
	}
	return all, nil
}

func closeAll(all []net.Listener) error {
	var errs []error
	for _, l := range all {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// announce writes the one line that says where to connect.
func announce(w io.Writer, listeners []net.Listener) error {
	ready := struct {
		Ready   []string `json:"ready"`
		PID     int      `json:"pid"`
		Proto   [2]int   `json:"proto"`
		Version string   `json:"version"`
	}{PID: os.Getpid(), Proto: server.Protocol, Version: version}
	for _, l := range listeners {
		ready.Ready = append(ready.Ready, server.Name(l))
	}
	return json.NewEncoder(w).Encode(ready)
}
