package main

import (
	"fmt"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay/afterstate"
)

type merge struct {
	Game  string   `arg:"" help:"Game of the networks, such as blockbattle."`
	Files []string `arg:"" help:"Weights files, of networks with one hidden layer."`
	Out   string   `help:"Weights file to write." default:"net.safetensors" placeholder:"FILE"`
}

// Help is printed with the flags.
func (*merge) Help() string {
	return "The result is one network with all their hidden units, whose output is the mean of theirs. It is often\n" +
		"stronger than each of them, and takes as long as all of them. For agents: learned:weights=FILE.\n" +
		"Their values are scaled first, so that those of one decision differ as much in each of them."
}

func (c *merge) Run() error {
	g, err := subject(c.Game)
	if err != nil {
		return err
	}
	var nets []*mlp.Net
	for _, path := range c.Files {
		n, err := g.Load(path)
		if err != nil {
			return err
		}
		nets = append(nets, n)
	}
	scales := afterstate.Spreads(g, nets)
	for k, v := range scales {
		if !(v > 0) {
			return fmt.Errorf("%s: its values of the choices of one decision do not differ", c.Files[k])
		}
		if k > 0 {
			scales[k] = scales[0] / v
		}
	}
	scales[0] = 1
	mean, err := mlp.Mean(nets, scales)
	if err != nil {
		return err
	}
	notes := map[string]string{"mean of": strconv.Itoa(len(nets))}
	if err := mlp.Save(c.Out, mean, g.Facts(notes)); err != nil {
		return err
	}
	for k, path := range c.Files {
		fmt.Printf("%s: scaled by %.3g\n", path, scales[k])
	}
	fmt.Printf("%s: the mean of %d networks, %d hidden units\n", c.Out, len(nets), mean.Layers()[0].Out)
	return nil
}
