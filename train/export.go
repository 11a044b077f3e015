package main

import (
	"context"
	"fmt"

	"blockyard/agents/bundle"
	"blockyard/agents/mlp"
)

type export struct {
	Game    string `arg:"" help:"Game the bot is for, such as blockbattle."`
	Weights string `help:"Net to build in, a safetensors file. Default: the shipped one." placeholder:"FILE"`
	Out     string `help:"Where the source goes." default:"bot.go" placeholder:"FILE"`
	Ply     int    `help:"How many choices the bot looks ahead: 2 to 4 in Block Battle, and to 6 where seats take turns, the opponent's counting too. Default: 2, as players do." placeholder:"N"`
	Zip     bool   `help:"Also write the upload beside it, with the ending .zip: an archive with main.go on top."`
}

// Help tells more about the command.
func (*export) Help() string {
	return fmt.Sprintf(`The result needs nothing but the standard library and Go %s, and is at most %d
characters long. It is compiled alone and answers the stored logs of the contest before it
is written. Run this inside the source tree: the bot is made of its packages.`, bundle.Lang[2:], bundle.MaxChars)
}

// Run implements the command.
func (c *export) Run(ctx context.Context) error {
	g, err := subject(c.Game)
	if err != nil {
		return err
	}
	if g.Export != "" {
		return fmt.Errorf("%s has no bot in one file; %s", g.Rules.Name, g.Export)
	}
	var net *mlp.Net
	if c.Weights == "" {
		net, err = g.Shipped()
	} else {
		net, err = g.Load(c.Weights)
	}
	if err != nil {
		return err
	}
	report, err := bundle.Bot{Game: c.Game, Net: net, Ply: c.Ply}.Export(ctx, c.Out, c.Zip)
	if err != nil {
		return err
	}
	fmt.Print(report)
	return nil
}
