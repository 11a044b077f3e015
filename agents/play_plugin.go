package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/wintetrisabi/host"
	"blockyard/env/wintetris"
)

// pluginFlags are what play takes for a solver in a shared library.
type pluginFlags struct {
	Plugin   string         `placeholder:"FILE" help:"WinTetris: play with the solver in this shared library."`
	Options  string         `placeholder:"TEXT" help:"With --plugin: options that the solver is opened with."`
	Games    int            `placeholder:"N" help:"With --plugin: number of games, seeds from --seed on. Default 1."`
	Strict   bool           `help:"With --plugin: bits that exclude each other lose the game."`
	CapLines int            `placeholder:"N" help:"With --plugin: stop a game after this many lines."`
	LimitMS  *int           `name:"limit-ms" placeholder:"MS" help:"With --plugin: limit of an answer. Default 1000."`
	Patience *time.Duration `placeholder:"TIME" help:"With --plugin: limit of a call. Default 10s."`
	JSON     bool           `name:"json" help:"With --plugin: print one line of JSON and nothing else."`
	Quiet    bool           `short:"q" help:"With --plugin: nothing on standard error."`
}

// Help is printed with the flags.
func (*playCmd) Help() string {
	return `A solver's library has the C interface of agents/wintetrisabi/lib/wintetris.h:

  agents play wintetris --plugin ./solver.so --options "parts=4" --games 20 --seed 1

An answer after --limit-ms counts as none; a call that takes longer than --patience ends
its game; 0 removes a limit. What the library prints goes to standard error, unless --quiet is set. A solver
that crashes, exits or hangs ends that game; the next game begins with a new process, and
the exit status is 1.`
}

// servePlugin runs a library for the parent process if args ask for it. The parent is told
// about errors.
func servePlugin(args []string) (status int, asked bool) {
	if len(args) != 2 || args[0] != host.ServeArgument {
		return 0, false
	}
	_ = host.Serve(args[1])
	return 1, true
}

// plugged plays the games of a library and prints what they came to. A fault is an error.
func (c *playCmd) plugged(ctx context.Context, con *console) error {
	p, err := c.player(con)
	if err != nil {
		return usage{err}
	}
	defer p.Close()
	bar := con.progress(c.Quiet || c.JSON || c.Games == 1, c.Games, "games")
	report, err := p.PlayAll(ctx, c.Seed, c.Games, bar.set)
	bar.close()
	if err != nil {
		return err
	}
	if err := con.print(c.JSON, report); err != nil {
		return err
	}
	return report.Fault()
}

// player is the library as it is asked for.
func (c *playCmd) player(con *console) (*host.Player, error) {
	limit, patience := 1000, 10*time.Second
	if c.Patience != nil {
		patience = *c.Patience
	}
	if c.LimitMS != nil {
		limit = *c.LimitMS
	}
	if c.Games == 0 {
		c.Games = 1
	}
	switch {
	case c.Game != wintetris.Game.Name && c.Game != wintetris.TickGame.Name:
		return nil, fmt.Errorf("--plugin is for %s, not %s", wintetris.Game.Name, c.Game)
	case len(c.Agent) > 0 || c.Record != "" || c.Show || c.Seats > 1:
		return nil, errors.New("--plugin goes without --agent, --seats, --show and --record")
	case c.Games < 1 || c.CapLines < 0 || limit < 0 || patience < 0:
		return nil, errors.New("--games is at least 1; --cap-lines, --limit-ms and --patience are not negative")
	case strings.ContainsRune(c.Options, 0):
		return nil, errors.New("--options: a zero byte")
	}
	p := &host.Player{Options: c.Options, Strict: c.Strict, Cap: c.CapLines, Config: host.Config{
		File: c.Plugin, Limit: time.Duration(limit) * time.Millisecond, Patience: patience,
	}}
	if !c.Quiet && !c.JSON {
		p.Config.Output = con.err
	}
	return p, nil
}
