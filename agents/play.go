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
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

type playCmd struct {
	Game   string        `arg:"" help:"Name of the game."`
	Agent  []string      `short:"a" sep:"none" placeholder:"PLAYER" help:"Players of the seats, in order; one plays all."`
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
