package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/agents/match"
	"blockyard/agents/registry"
	"blockyard/agents/wintetrisabi/host"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/wintetris"
)

type playCmd struct {
	Game   string        `arg:"" help:"Name of the game."`
	Agent  []string      `short:"a" sep:"none" placeholder:"PLAYER" help:"Player of each seat, in order; one plays all."`
	Seats  int           `help:"Number of seats, in a game that allows several; by default the number of players."`
	Seed   uint64        `default:"1" help:"Seed of the game."`
	Show   bool          `help:"Show every position as it is played."`
	Pause  time.Duration `default:"100ms" help:"Time between positions on a terminal."`
	Record string        `placeholder:"FILE" help:"Append the game to this file of records."`
	pluginFlags
}

// Run plays the game and prints how it ended.
func (c *playCmd) Run(ctx context.Context, con *console) error {
	if c.Plugin != "" {
		return c.plugged(ctx, con)
	}
	g, err := c.match()
	if err != nil {
		return usage{err}
	}
	for i, name := range g.Names {
		f, err := registry.Parse(g.Rules, name)
		if err != nil {
			return usage{err}
		}
		a, err := f(env.Derive(c.Seed, uint64(i)))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if closer, ok := a.(io.Closer); ok {
			defer closer.Close()
		}
		g.Agents = append(g.Agents, a)
	}
	if c.Show {
		g.Watch = c.watch(ctx, con.out, g.Rules)
	}
	rec, err := match.Play(ctx, g)
	if err != nil && !match.Stopped(err) {
		return err
	}
	if c.Record != "" {
		if err := appendTo(c.Record, rec); err != nil {
			return err
		}
	}
	return ending(con.out, rec)
}

// match is the game that the flags describe, without its agents.
func (c *playCmd) match() (match.Game, error) {
	if c.pluginFlags != (pluginFlags{}) {
		return match.Game{}, errors.New("--options, --games, --strict, --cap-lines, --limit-ms, --patience, --json " +
			"and --quiet need --plugin")
	}
	if len(c.Agent) == 0 {
		return match.Game{}, errors.New("missing flags: --agent=PLAYER")
	}
	g, err := games.Lookup(c.Game)
	if err != nil {
		return match.Game{}, err
	}
	names, seats := c.Agent, c.Seats
	if seats == 0 {
		seats = max(len(names), g.MinSeats)
	}
	if seats < g.MinSeats || seats > g.MaxSeats {
		return match.Game{}, fmt.Errorf("%s: %d seats, want %d to %d", g.Name, seats, g.MinSeats, g.MaxSeats)
	}
	for len(c.Agent) == 1 && len(names) < seats {
		names = append(names, c.Agent[0])
	}
	if len(names) != seats {
		return match.Game{}, fmt.Errorf("%s: %d players for %d seats", g.Name, len(names), seats)
	}
	return match.Game{Rules: g, Seed: c.Seed, Names: names}, nil
}

// watch returns a function that shows each position and the actions chosen in it: on a terminal in place, otherwise
// one below the other.
func (c *playCmd) watch(ctx context.Context, w io.Writer, g *env.Game) func(env.State, env.Moves) error {
	live := terminal(w)
	var f env.Frame
	return func(s env.State, m env.Moves) error {
		f.Reset()
		s.Show(&f)
		for set := s.Acting(); set != 0; set = set.Rest() {
			seat, text := set.First(), "nothing"
			if m[seat] != env.None {
				text = g.Text(m[seat])
			}
			f.Note(fmt.Sprintf("seat %d plays %s", seat, text))
		}
		text := f.String() + "\n"
		if live {
			text = "\x1b[H\x1b[2J" + text
		}
		if _, err := io.WriteString(w, text); err != nil || !live {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(c.Pause):
			return nil
		}
	}
}

// appendTo appends a game to a file of records.
func appendTo(path string, rec *record.Record) error {
	w, err := record.Append(path)
	if err != nil {
		return err
	}
	defer w.Discard()
	if err := w.Write(rec); err != nil {
		return err
	}
	return w.Close()
}

// ending prints how a game ended, one line per seat.
func ending(w io.Writer, rec *record.Record) error {
	var b strings.Builder
	if rec.Stopped {
		b.WriteString("stopped early\n")
	}
	for seat, name := range rec.Agents {
		fmt.Fprintf(&b, "seat %d  score %d  result %+g  %s\n", seat, rec.Scores[seat], rec.Results[seat], name)
	}
	fmt.Fprintf(&b, "%s, seed %d, %d choices\n", rec.Game, rec.Seed, len(rec.Choices))
	_, err := io.WriteString(w, b.String())
	return err
}

// pluginFlags are what play takes for a solver in a shared library.
type pluginFlags struct {
	Plugin   string         `placeholder:"FILE" help:"WinTetris: play with the solver in this shared library."`
	Options  string         `placeholder:"TEXT" help:"With --plugin: options to open the solver with."`
	Games    int            `placeholder:"N" help:"With --plugin: number of games, seeds count up from --seed. Default 1."`
	Strict   bool           `help:"With --plugin: an answer with conflicting bits loses the game."`
	CapLines int            `placeholder:"N" help:"With --plugin: stop a game after this many lines."`
	LimitMS  *int           `name:"limit-ms" placeholder:"MS" help:"With --plugin: time limit of an answer. Default 1000."`
	Patience *time.Duration `placeholder:"TIME" help:"With --plugin: time limit of a call. Default 10s."`
	JSON     bool           `name:"json" help:"With --plugin: print one line of JSON and nothing else."`
	Quiet    bool           `short:"q" help:"With --plugin: nothing on standard error."`
}

// Help is printed with the flags.
func (*playCmd) Help() string {
	return `With --plugin, a solver in a shared library plays WinTetris. The library has the C
interface of agents/wintetrisabi/lib/wintetris.h:

  agents play wintetris --plugin ./solver.so --options "parts=4" --games 20 --seed 1

An answer after --limit-ms is ignored; a call that takes longer than --patience ends
its game; 0 removes a limit. What the library prints goes to standard error, unless --quiet is set. A solver
that crashes, exits or hangs ends that game; the next game begins with a new process, and
the exit status is 1.`
}

// servePlugin runs a library for the parent process if args ask for it. Errors go to
// the parent.
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
