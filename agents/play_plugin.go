package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/agents/wintetrisabi/host"
	"blockyard/env/wintetris"
)

// pluginFlags are what play takes for a solver in a shared library.
type pluginFlags struct {
	Plugin   string         `placeholder:"FILE" help:"WinTetris: a solver's shared library plays, in a process of its own."`
	Options  string         `placeholder:"TEXT" help:"With --plugin: what the solver is opened with."`
	Games    int            `placeholder:"N" help:"With --plugin: games, of the seeds from --seed up. Default 1."`
	Strict   bool           `help:"With --plugin: bits that exclude each other lose the game."`
	CapLines int            `placeholder:"N" help:"With --plugin: stop a game at so many lines."`
	LimitMS  *int           `name:"limit-ms" placeholder:"MS" help:"With --plugin: a later answer counts as none; 0 for no limit. Default 1000."`
	Patience *time.Duration `placeholder:"TIME" help:"With --plugin: a call still out then ends its game; 0 for never. Default 10s."`
	JSON     bool           `name:"json" help:"With --plugin: print one line of JSON and nothing else."`
	Quiet    bool           `short:"q" help:"With --plugin: no progress bar, and nothing that the library prints, on standard error."`
}

// Help tells more about the command.
func (*playCmd) Help() string {
	return `A solver's library has the C interface of agents/wintetrisabi/lib/wintetris.h:

  agents play wintetris --plugin ./solver.so --options "parts=4" --games 20 --seed 1

A solver that crashes, exits or hangs spoils that game; the next begins with a new
process, and the exit status is 1.`
}

// servePlugin is the process that a library runs in, if args ask for it. What goes wrong its
// parent hears.
func servePlugin(args []string) (status int, asked bool) {
	if len(args) != 2 || args[0] != host.ServeArgument {
		return 0, false
	}
	_ = host.Serve(args[1])
	return 1, true
}

// plugged plays the games of a library.
func (c *playCmd) plugged(ctx context.Context, con *console) error {
	p, err := c.player(con)
	if err != nil {
		return usage{err}
	}
	defer p.Close()
	t := pluginTable{Plugin: c.Plugin, Options: c.Options, Strict: c.Strict}
	step := func() {}
	if !c.Quiet && !c.JSON && c.Games > 1 && terminal(con.err) {
		bar := newBar(con.err, c.Games, "games")
		defer func() { _ = bar.Finish() }()
		step = func() { _ = bar.Add(1) }
	}
	for i := range c.Games {
		r, err := p.Play(ctx, c.Seed+uint64(i))
		if ctx.Err() != nil {
			t.Stopped = true
			break
		}
		if err != nil && i == 0 {
			return fmt.Errorf("%s: %w", c.Plugin, err)
		} else if err != nil { // it could be opened before
			r.End, r.Fault = "fault", err.Error()
		}
		t.Games = append(t.Games, r)
		step()
	}
	t.sum()
	if err := t.write(con.out, c.JSON); err != nil {
		return err
	}
	if t.Faults > 0 {
		return fmt.Errorf("%s: %d of %d games ended by a fault, the first: %s", c.Plugin, t.Faults, len(t.Games), t.firstFault())
	}
	return nil
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

// pluginTable is what the games of a library came to.
type pluginTable struct {
	Plugin  string        `json:"plugin"`
	Options string        `json:"options"`
	Strict  bool          `json:"strict"`
	Stopped bool          `json:"stopped"` // before all games were played
	Faults  int           `json:"faults"`
	Lines   float64       `json:"mean_lines"`
	Games   []host.Result `json:"games"`
}

func (t *pluginTable) sum() {
	for _, r := range t.Games {
		t.Lines += float64(r.Lines) / float64(len(t.Games))
		if r.Fault != "" {
			t.Faults++
		}
	}
}

func (t *pluginTable) firstFault() string {
	for _, r := range t.Games {
		if r.Fault != "" {
			return r.Fault
		}
	}
	return ""
}

func (t *pluginTable) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(t)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%8s %7s %6s %7s %9s %9s %8s %6s %9s  %s\n",
		"seed", "lines", "level", "pieces", "score", "conflicts", "blocked", "late", "failures", "end")
	for _, r := range t.Games {
		fmt.Fprintf(&b, "%8d %7d %6d %7d %9d %9d %8d %6d %9d  %s\n",
			r.Seed, r.Lines, r.Level, r.Pieces, r.Score, r.Conflicts, r.Blocked, r.Late, r.Failures, r.End)
	}
	for _, r := range t.Games {
		if r.Failure != "" {
			fmt.Fprintf(&b, "seed %d: %s\n", r.Seed, r.Failure)
		}
		if r.Fault != "" {
			fmt.Fprintf(&b, "seed %d: %s\n", r.Seed, r.Fault)
		}
	}
	if len(t.Games) > 0 {
		fmt.Fprintf(&b, "%d games, %.1f lines on average\n", len(t.Games), t.Lines)
	}
	if t.Stopped {
		b.WriteString("stopped early\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
