package commands

import (
	"fmt"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay/afterstate"
)

type merge struct {
	Game  string   `arg:"" help:"Game of the networks, such as blockbattle."`
	Files []string `arg:"" help:"Weights files, of networks with one hidden layer; learned is the shipped one."`
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
	mean, err := meanOf(g, c.Files)
	if err != nil {
		return err
	}
	notes := map[string]string{"mean of networks": strconv.Itoa(len(c.Files))}
	if err := mlp.Save(c.Out, mean, g.Facts(notes)); err != nil {
		return err
	}
	fmt.Printf("%s: the mean of %d networks, %d hidden units\n", c.Out, len(c.Files), mean.Layers()[0].Out)
	return nil
}

// meanOf is the mean of the networks of some files, of which the values are scaled to those of the first; for one file
// its network.
func meanOf(g *games.Game, files []string) (*mlp.Net, error) {
	var nets []*mlp.Net
	for _, path := range files {
		if path == "learned" {
			path = ""
		}
		n, err := g.Load(path)
		if err != nil {
			return nil, err
		}
		nets = append(nets, n)
	}
	if len(nets) == 1 {
		return nets[0], nil
	}
	scales := afterstate.Spreads(g, nets)
	first := scales[0]
	for k, v := range scales {
		if !(v > 0) {
			return nil, fmt.Errorf("%s: its values of the choices of one decision do not differ", files[k])
		}
		scales[k] = first / v
	}
	return mlp.Mean(nets, scales)
}
