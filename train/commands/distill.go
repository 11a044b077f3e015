package commands

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/datasets/program"
	"blockyard/datasets/program/provenance"
	"blockyard/train/distill"
)

type distillCmd struct {
	Game       string   `arg:"" help:"Game of the networks, such as blockbattle."`
	Files      []string `arg:"" help:"Weights files of the teacher; of several their mean. learned is the shipped one."`
	Out        string   `help:"Weights file to write." default:"net.safetensors" placeholder:"FILE"`
	From       string   `help:"Net to start from instead of random weights." placeholder:"FILE"`
	Hidden     []int    `help:"Sizes of the hidden layers of a new net." default:"64"`
	Iterations int      `help:"Rollouts of 64 games, eight steps each." default:"1500"`
	Rate       float64  `help:"Learning rate at the start; it falls to a hundredth." default:"0.001"`
	Seed       uint64   `help:"Seed of everything random." default:"1"`
	Workers    int      `help:"Goroutines that play; they do not influence the outcome. 0: one per core." default:"1"`
}

// Help is printed with the flags.
func (*distillCmd) Help() string {
	return "The teacher plays against itself, one ply deep, and the new network learns its values of the positions\n" +
		"that a search of two plies would evaluate."
}

func (c *distillCmd) Run(ctx context.Context) error {
	g, err := subject(c.Game)
	if err != nil {
		return err
	}
	teacher, err := meanOf(g, c.Files)
	if err != nil {
		return err
	}
	config := distill.Default()
	config.Seed, config.Hidden, config.Iterations, config.Rate = c.Seed, c.Hidden, c.Iterations, c.Rate
	if config.Workers = c.Workers; c.Workers < 1 {
		config.Workers = runtime.GOMAXPROCS(0)
	}
	if c.From != "" {
		if config.From, err = g.Load(c.From); err != nil {
			return err
		}
	}
	bar, done := program.NewBar(os.Stderr, false, c.Iterations, ""), 0
	config.Progress = func(n int, loss float64) {
		switch done = n; {
		case program.Terminal(os.Stderr):
			bar.Show(n, fmt.Sprintf("loss %.5f", loss))
		case n%100 == 0 || n == c.Iterations:
			fmt.Fprintf(os.Stderr, "%d of %d: loss %.5f\n", n, c.Iterations, loss)
		}
	}
	seed := strconv.FormatUint(c.Seed, 10)
	made := provenance.Begin("train", seed)
	net, err := distill.Run(ctx, g, teacher, config)
	if err != nil {
		return err
	}
	bar.Close()
	if done < c.Iterations {
		fmt.Fprintf(os.Stderr, "stopped after %d of %d iterations: %s has the network so far\n", done, c.Iterations, c.Out)
	}
	notes := map[string]string{"seed": seed, "distilled from networks": strconv.Itoa(len(c.Files))}
	if err := mlp.Save(c.Out, net, g.Facts(notes)); err != nil {
		return err
	}
	return made.WriteBeside(c.Out)
}
