package main

import (
	"fmt"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/agents/registry"
	"blockyard/env/games"
)

type merge struct {
	Game  string   `arg:"" help:"Game of the networks, such as blockbattle."`
	Files []string `arg:"" help:"Weights files, of networks with one hidden layer whose values have the same scale."`
	Out   string   `help:"Weights file to write." default:"net.safetensors" placeholder:"FILE"`
}

// Help is printed with the flags.
func (*merge) Help() string {
	return "The result is one network with all their hidden units, whose output is the mean of theirs. It is often\n" +
		"stronger than each of them, and takes as long as all of them. For agents: learned:weights=FILE."
}

func (c *merge) Run() error {
	g, err := games.Open(c.Game)
	if err != nil {
		return err
	}
	var nets []*mlp.Net
	for _, path := range c.Files {
		n, err := registry.Of(g).LoadNet(g, path)
		if err != nil {
			return err
		}
		nets = append(nets, n)
	}
	mean, err := mlp.Mean(nets...)
	if err != nil {
		return err
	}
	notes := map[string]string{"mean of": strconv.Itoa(len(nets))}
	if err := mlp.Save(c.Out, mean, registry.Of(g).Facts(g, notes)); err != nil {
		return err
	}
	fmt.Printf("%s: the mean of %d networks, %d hidden units\n", c.Out, len(nets), mean.Layers()[0].Out)
	return nil
}
