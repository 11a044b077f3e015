package main

import (
	"context"
	"errors"
	"fmt"

	"blockyard/agents/bundle"
	"blockyard/agents/dropbloxbot"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/games"
)

type bundleCmd struct {
	Game    string `arg:"" help:"Name of the game: blockbattle, tetrisduel, blocking or dropblox."`
	Out     string `required:"" placeholder:"FILE" help:"Where the source goes, such as bot.go."`
	Weights string `placeholder:"FILE" help:"Net to build in, a safetensors file; by default the shipped one."`
	Hand    bool   `help:"Build in the hand-tuned weights instead of a net."`
	Ply     int    `help:"How many choices the bot looks ahead: 2 to 4 in Block Battle, and to 6 where seats take turns, the opponent's counting too. Default: 2, as players do." placeholder:"N"`
	Zip     bool   `help:"Also write the upload beside it, with the ending .zip: an archive with main.go on top."`
}

// Help tells more about the command.
func (*bundleCmd) Help() string {
	return fmt.Sprintf(`The result needs nothing but the standard library and Go %s, and is at most %d
characters long. It is compiled alone and answers the stored logs of the contest before it
is written. Run this inside the source tree: the bot is made of its packages.`, bundle.Lang[2:], bundle.MaxChars)
}

// Run writes the bot.
func (c *bundleCmd) Run(ctx context.Context, con *console) error {
	g, loadNet, err := bundled(c.Game)
	if err != nil {
		return usage{err}
	}
	var net *mlp.Net
	switch {
	case c.Hand && c.Weights != "":
		return usage{errors.New("--hand and --weights do not go together")}
	case !c.Hand:
		if net, err = loadNet(g, c.Weights); err != nil {
			return usage{err}
		}
	}
	done, err := bundle.Bot{Game: c.Game, Net: net, Ply: c.Ply}.Export(ctx, c.Out, c.Zip)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(con.out, done)
	return err
}

// bundled finds a game whose contest takes a source file, and what reads its nets.
func bundled(name string) (*env.Game, func(g *env.Game, path string) (*mlp.Net, error), error) {
	if g, err := games.Lookup(name); err == nil && g.Name == "dropblox" {
		return g, dropbloxbot.LoadNet, nil
	}
	g, err := hostable(name)
	if err != nil {
		return nil, nil, err
	}
	talk, _ := dialogueOf(g)
	return g, talk.loadNet, nil
}
