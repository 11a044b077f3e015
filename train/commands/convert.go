package commands

import (
	"fmt"

	"blockyard/agents/bots"
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env/games"
	"blockyard/train/onnx"
)

type export struct {
	Game    string `arg:"" help:"Game of the network, such as blockbattle."`
	Weights string `placeholder:"FILE" help:"Network to write, a safetensors file. Default: the shipped one."`
	ONNX    string `name:"onnx" required:"" help:"Model to write." placeholder:"FILE"`
}

func (c *export) Run() error {
	g, err := games.Open(c.Game)
	if err != nil {
		return err
	}
	net, facts, err := bots.Of(g).ReadNet(g, mlp.ReadFile, c.Weights)
	if err != nil {
		return err
	}
	model, err := onnx.Write(net, facts)
	if err == nil {
		err = mlp.WriteFile(c.ONNX, model)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%s: a network of %s with %d inputs, %d bytes\n", c.ONNX, facts.Game, net.In(), len(model))
	return nil
}

type importCmd struct {
	File string `arg:"" help:"ONNX model, as train export --onnx writes it."`
	Game string `help:"Game of a model that does not say it. Its inputs must be the game's features." placeholder:"GAME"`
	Out  string `help:"Weights file to write." default:"net.safetensors" placeholder:"FILE"`
}

// Help is printed with the flags.
func (*importCmd) Help() string {
	return "The result is for learned:weights=FILE. A model must be Gemm (torch.nn.Linear)\n" +
		"with LeakyRelu (torch.nn.LeakyReLU(0.01)) between them, all in one file."
}

// Run reads the model, checks it against the game, and writes the weights file.
func (c *importCmd) Run() error {
	file, err := mlp.ReadFile(c.File)
	if err != nil {
		return err
	}
	net, facts, err := onnx.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	name := c.Game
	if name == "" {
		name = facts.Game
	}
	if name == "" {
		return fmt.Errorf("%s does not say for which game it is: pass --game GAME", c.File)
	}
	g, err := games.Open(name)
	if err != nil {
		return err
	}
	if bots.Features(g) == nil {
		return fmt.Errorf("%s defines no features", g.Name)
	}
	wanted := bots.Of(g).Facts(g, nil)
	if facts.Game == "" {
		facts = wanted
	}
	if err := facts.Check(wanted.Game, wanted.Rules, wanted.Features); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if err := features.Check(net, len(wanted.Features)); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if err := mlp.Save(c.Out, net, facts); err != nil {
		return err
	}
	fmt.Printf("%s: a network of %s with %d inputs\n", c.Out, facts.Game, net.In())
	return nil
}
