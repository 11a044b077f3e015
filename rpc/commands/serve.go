package commands

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/rpc/session/limits"

	"github.com/alecthomas/kong"

	"blockyard/datasets/program"
	"blockyard/datasets/program/ops"
	"blockyard/env/games"
	"blockyard/rpc/commands/watch"
	"blockyard/rpc/openenv"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
)

// A serveCmd has the flags of "rpc serve". Its Run serves games until it is interrupted.
type serveCmd struct {
	Listen      []string      `placeholder:"ADDRESS" sep:"none" help:"${listen_help}"`
	Token       string        `needs:"!token-file" env:"BLOCKYARD_TOKEN" placeholder:"TEXT" help:"${token_help}"`
	TokenFile   string        `type:"existingfile" placeholder:"FILE" help:"${token_file_help}"`
	Cert        string        `type:"existingfile" placeholder:"FILE" help:"${cert_help}"`
	Key         string        `type:"existingfile" placeholder:"FILE" help:"${key_help}"`
	ClientCA    string        `name:"client-ca" type:"existingfile" placeholder:"FILE" help:"${client_ca_help}"`
	TLS12       bool          `name:"tls12" help:"Also allow TLS 1.2. By default only TLS 1.3 is spoken."`
	ParentDeath bool          `help:"Exit when standard input ends, as it does when the parent process dies."`
	IdleExit    time.Duration `placeholder:"DURATION" help:"Exit after this time without a connection."`
	TrustSpecs  bool          `needs:"listen" help:"${trust_help}"`
	Workers     uint          `needs:"listen" help:"Goroutines that step a handle's games; 0: one per core." default:"0"`
	Toy         bool          `hidden:"" help:"Also serve the games of the tests."`
	Drain       time.Duration `placeholder:"DURATION" help:"${drain_help}"`

	openEnvFlags `needs:"openenv"`
	Watch        string `placeholder:"HOST:PORT" help:"${watch_help}"`
	ops.Flags
	limits.Limits
}

//go:embed flags.toml
var flagTexts string

// vars are the longer help texts, and what fits this machine.
func vars() kong.Vars {
	v := program.Texts(flagTexts)
	v["openenv_idle"] = openenv.DefaultIdle.String()
	v["openenv_tools_help"] += " The tools are " + strings.Join(openenv.Tools(), ", ") + "."
	v["MaxMemory"] = strconv.FormatInt(defaultLimits().MaxMemory, 10)
	return v
}

func defaultLimits() limits.Limits {
	l := limits.DefaultLimits()
	fits, _ := limits.Fitting()
	l.MaxMemory = min(l.MaxMemory, fits)
	return l
}

// Validate is called by the parser. A server without an address serves this machine.
func (c *serveCmd) Validate() error {
	if c.OpenEnv == "" && len(c.Listen) == 0 {
		c.Listen = []string{"tcp:127.0.0.1:7777"}
	}
	switch {
	case (c.Cert != "" || c.Key != "" || c.ClientCA != "" || c.TLS12) &&
		!slices.ContainsFunc(append(c.Listen, c.OpenEnv), func(a string) bool { return strings.HasPrefix(a, "tls:") }):
		return errors.New("--cert, --key, --client-ca and --tls12 are for an address such as tls:HOST:PORT")
	case c.OpenEnv != "" && c.Game == "":
		return errors.New("--openenv serves one game: set --game, such as BlockBattle-v0")
	}
	return nil
}

// Run serves until ctx ends, a listener fails, or --parent-death or --idle-exit applies.
func (c *serveCmd) Run(ctx context.Context, con *program.Console) error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.New("this machine is big endian, but slabs are little endian and sent without conversion: " +
			"run the server on a little-endian machine")
	}
	c.MaxMemory = cmp.Or(c.MaxMemory, limits.Unlimited)
	c.tuneRuntime()
	tokens, err := c.tokens()
	if err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	if c.Drain < 0 {
		return fmt.Errorf("--drain is %v, want at least 0", c.Drain)
	}
	log := c.Logger(con.Err)
	c.Fit(log)
	served := games.All
	if c.Toy {
		served = withToys()
	}
	srv := server.New(server.Config{
		Games: served, Version: version, Trusted: c.TrustSpecs, Tokens: tokens,
		Workers: int(c.Workers), Limits: c.Limits, Log: log,
	}.WithBots())
	site, err := c.Start(log, metrics(srv, c.Limits)...)
	if err != nil {
		return err
	}
	defer site.Close()
	text, done, err := c.openEnv(ctx, srv.Ledger(), served, c.Flags.Names, log)
	defer done()
	if err != nil {
		return err
	}
	signals := ctx
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ready := &ready{Ready: []string{}, PID: os.Getpid(), Proto: server.Protocol, Version: version, HTTP: site.URL()}
	services, err := c.listen(tokens, ready, srv.Serve, text.Serve,
		func(l net.Listener) error { return watch.NewHandler(srv).Serve(ctx, l, c.Flags.Names, log) })
	if err != nil {
		return err
	}
	for _, s := range services {
		go func() {
			if err := s.serve(s.Listener); err != nil {
				end(err)
			}
		}()
	}
	c.watch(ctx, srv, end)
	site.Ready() // before the line that says so: whoever reads it may ask at once
	if err := json.NewEncoder(con.Out).Encode(ready); err != nil {
		return errors.Join(err, closeAll(services))
	}
	<-ctx.Done()
	site.Unready("draining")
	text.Drain()
	err = closeAll(services)
	if signals.Err() != nil && c.Drain > 0 && srv.Idle() == 0 {
		log.Info("draining: clients may go on until they disconnect", "for", c.Drain)
		leave, cancel := context.WithTimeout(context.Background(), c.Drain)
		defer cancel()
		srv.AwaitIdle(leave)
	}
	return errors.Join(err, text.Close(), srv.Shutdown(context.Background()))
}

// tuneRuntime sets how often the garbage collector runs, unless the environment says it: it runs after little garbage,
// which comes in large pieces, and as often as it must as soon as the process is about to exceed --max-memory.
func (c *serveCmd) tuneRuntime() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
	if os.Getenv("GOMEMLIMIT") == "" && c.MaxMemory != limits.Unlimited {
		debug.SetMemoryLimit(c.MaxMemory + headroom(c.MaxMemory)/4)
	}
}

// headroom is how much more than --max-memory the process may take, without shared memory.
func headroom(limit int64) int64 { return max(64<<20, limit/10) }

// tokens returns the tokens that clients may send, nil if they need none.
func (c *serveCmd) tokens() ([]limits.Token, error) {
	if c.TokenFile == "" {
		if c.Token == "" {
			return nil, nil
		}
		return []limits.Token{{Secret: c.Token}}, nil
	}
	b, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return nil, err
	}
	all, err := limits.ParseTokens(string(b))
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", c.TokenFile, err)
	}
	return all, nil
}

// watch ends ctx as --parent-death and --idle-exit say.
func (c *serveCmd) watch(ctx context.Context, srv *server.Server, end context.CancelCauseFunc) {
	if c.ParentDeath {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // an error means the same: the parent is gone
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

// A ready is the line of JSON that says where the server listens.
type ready struct {
	Ready   []string `json:"ready"`
	PID     int      `json:"pid"`
	Proto   [2]int   `json:"proto"`
	Version string   `json:"version"`
	HTTP    string   `json:"http,omitempty"`
	OpenEnv string   `json:"openenv,omitempty"`
	Watch   string   `json:"watch,omitempty"`
}

// A service is what answers at one address.
type service struct {
	net.Listener
	serve func(net.Listener) error
}

// listen opens the addresses of the flags, and says where. Like --listen, --watch takes an address that other machines
// can reach only if there is a token.
func (c *serveCmd) listen(tokens []limits.Token, say *ready, games, text, shown func(net.Listener) error) (
	all []service, err error) {
	with := listen.Credentials{Cert: c.Cert, Key: c.Key, ClientCA: c.ClientCA, TLS12: c.TLS12}
	at := func(address string, serve func(net.Listener) error) string {
		l, bad := listen.Listen(address, tokens, with)
		if bad != nil {
			err = errors.Join(err, bad)
			return ""
		}
		all = append(all, service{l, serve})
		return listen.Name(l)
	}
	for _, a := range c.Listen {
		say.Ready = append(say.Ready, at(a, games))
	}
	if c.OpenEnv != "" {
		say.OpenEnv = openEnvURL(at(c.openEnvAddress(), text))
	}
	if c.Watch != "" {
		say.Watch = strings.TrimPrefix(at("tcp:"+c.Watch, shown), "tcp:")
	}
	if err != nil {
		err = errors.Join(err, closeAll(all))
	}
	return all, err
}

func closeAll(all []service) error {
	var errs []error
	for _, l := range all {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) { // that of --watch closes at the end of its context
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
