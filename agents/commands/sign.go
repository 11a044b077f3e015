package commands

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/games"
)

// A signCmd has the flags of "agents sign". Its Run prints a line for each game and agent, which changes only if the
// play does.
type signCmd struct {
	Game  string `arg:"" optional:"" help:"Only this game."`
	Games int    `default:"4" help:"Games per line."`
}

func (c *signCmd) Run(ctx context.Context, con *console) error {
	list := games.All
	if c.Game != "" {
		g, err := games.Open(c.Game)
		if err != nil {
			return program.Usage(err)
		}
		list = []*env.Game{g}
	}
	if c.Games < 1 {
		return program.Usage(fmt.Errorf("--games %d: want a number from 1", c.Games))
	}
	bar := con.Progress(false, -1, "agents")
	defer bar.Close()
	for _, g := range list {
		for _, name := range bots.Names(g) {
			bar.Describe(g.Name + " " + name)
			text, err := signature(ctx, g, name, c.Games)
			if err != nil {
				return err
			}
			_ = bar.Clear() // a terminal that cannot be written to
			fmt.Fprint(con.Out, text)
			_ = bar.Add(1)
		}
	}
	return nil
}

// signSteps is the number of actions after which a game of one seat is stopped: with a good player it might never end.
const signSteps = 2000

func signature(ctx context.Context, g *env.Game, name string, n int) (string, error) {
	f, err := bots.New(g, bots.Foreign(name, nil))
	if errors.Is(err, mlp.ErrNotShipped) {
		return fmt.Sprintf("%-24s %-10s no weights shipped\n", g.Name, name), nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	choices := 0
	for seed := range uint64(n) {
		m := match.Game{Rules: g, Seed: seed}
		if g.MaxSeats == 1 {
			steps := 0
			m.Enough = func(env.State) bool { steps++; return steps > signSteps }
		}
		m.Names = slices.Repeat([]string{name}, g.MinSeats)
		if m.Agents, err = match.Seated(slices.Repeat([]bots.Factory{f}, g.MinSeats), m.Names, seed); err != nil {
			return "", err
		}
		rec, err := match.Play(ctx, m)
		if err != nil {
			return "", err
		}
		choices += len(rec.Choices)
		if err := binary.Write(sum, binary.LittleEndian, rec.Choices); err != nil {
			return "", err
		}
		fmt.Fprintln(sum, rec.Scores, rec.Results)
	}
	return fmt.Sprintf("%-24s %-10s %7d choices  %.8x\n", g.Name, name, choices, sum.Sum(nil)), nil
}
