package main

import (
	"context"
	"errors"
	"fmt"

	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/registry"
	"blockyard/env"
	"blockyard/env/games"
)

type botCmd struct {
	Game  string `arg:"" help:"Name of the game: blockbattle, tetrisduel or blocking."`
	Agent string `placeholder:"PLAYER" help:"Who plays; by default learned, or hand where no net is shipped."`
	Seed  uint64 `default:"1" help:"Seed of the player's random choices. Default ${default}."`
}

// Help tells more about the command.
func (*botCmd) Help() string {
	return `The contest's dialogue runs over standard input and output; the dialect is recognised
from what is said. Anything odd is noted on standard error and answered with a
safe move. The player gets a share of the time bank for every answer.`
}

// Run plays until standard input ends.
func (c *botCmd) Run(ctx context.Context, con *console) error {
	g, err := hostable(c.Game)
	if err != nil {
		return usage{err}
	}
	factory, err := c.player(g, con)
	if err != nil {
		return usage{err}
	}
	agent, err := factory(c.Seed)
	if err != nil {
		return err
	}
	bot := contest.Bot{
		Codec: registry.Of(g).Contest.Bot(con.out, con.err), Agent: agent,
		State: g.New(g.MinSeats), View: g.New(g.MinSeats), Notes: con.err,
	}
	return bot.Play(ctx, con.in, con.out)
}

func (c *botCmd) player(g *env.Game, con *console) (registry.Factory, error) {
	if c.Agent != "" {
		return registry.Parse(g, c.Agent)
	}
	f, err := registry.Parse(g, "learned")
	if errors.Is(err, mlp.ErrNotShipped) {
		fmt.Fprintln(con.err, "no net is shipped: the hand-tuned player plays")
		return registry.Parse(g, "hand")
	}
	return f, err
}

// hostable finds a game whose contest is known.
func hostable(name string) (*env.Game, error) {
	g, err := games.Lookup(name)
	if err != nil {
		return nil, err
	}
	if registry.Of(g).Contest == nil {
		return nil, fmt.Errorf("%s has no contest of lines", g.Name)
	}
	return g, nil
}
