package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/agents/match/tuning"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env/games"
)

// A tuneCmd has the flags of "agents tune". Its Run finds weights for the baseline of a game.
type tuneCmd struct {
	Game    string `arg:"" help:"Name of the game, such as wintetris."`
	Out     string `required:"" placeholder:"FILE" help:"Write the weights to this file, for hand:weights=FILE."`
	Budget  int    `default:"20000" help:"Games to play in all, rounded down to whole generations."`
	Games   int    `default:"40" help:"Games of one candidate in one generation; even with several seats."`
	From    string `placeholder:"FILE" help:"Start from these weights; by default from those of hand."`
	With    string `placeholder:"OPTIONS" help:"Search options of all agents; ply=1 by default with several seats."`
	Cap     int    `placeholder:"N" help:"In a game of one seat: stop a game at this score."`
	Steps   int    `placeholder:"N" help:"In a game of one seat: stop a game after this many actions."`
	Seed    uint64 `default:"1" help:"Seed of all games and candidates."`
	Check   int    `default:"400" help:"Games against the start at the end, on other seeds; 0 for none."`
	Workers int    `placeholder:"N" help:"Games at once; the result does not depend on it. Default: one per core."`
	Quiet   bool   `short:"q" help:"Print no progress bar."`
}

// Run tunes, writes weights and curve after every generation, and prints the result on seeds that it did not tune on.
func (c *tuneCmd) Run(ctx context.Context, con *console) error {
	t, err := c.tuning()
	if err != nil {
		return program.Usage(err)
	}
	made := program.Begin("agents", strconv.FormatUint(c.Seed, 10))
	bar := con.Progress(c.Quiet, t.Generations*t.Candidates()*c.Games, "games")
	defer bar.Close()
	var all []tuning.Generation
	save := func(g tuning.Generation) error {
		all = append(all, g)
		bar.Show(g.Games, fmt.Sprintf("mean %.4g  best %.4g  generation %d", g.Mean, g.Top, g.Number))
		return errors.Join(disk.WriteText(c.Out, 0o644, string(t.Base.Format(g.Weights))), made.WriteBeside(c.Out),
			disk.WriteText(c.Out+".svg", 0o644, t.Draw(all)))
	}
	if err := t.Run(ctx, save); err != nil {
		return err
	}
	bar.Close()
	if len(all) == 0 {
		fmt.Fprintln(con.Out, "no generation was completed: no weights written")
		return nil
	}
	last := all[len(all)-1]
	fmt.Fprintf(con.Out, "%d generations, %d games; weights in %s, curve in %[3]s.svg\n", last.Number, last.Games, c.Out)
	if c.Check == 0 || ctx.Err() != nil {
		return nil
	}
	m := t.Match
	m.Seed, m.Units = ^c.Seed, c.Check/m.GameSeats()
	if m.Players, err = t.Players(last.Weights); err != nil {
		return err
	}
	checked := con.Progress(c.Quiet, c.Check, "games")
	m.Progress = checked.Show
	r, err := m.Play(ctx)
	checked.Close()
	if err != nil || r.Games == 0 {
		return err
	}
	return con.Print(false, match.Versus{Report: r})
}

// tuning is what the flags describe.
func (c *tuneCmd) tuning() (*tuning.Tuning, error) {
	g, err := games.Open(c.Game)
	if err != nil {
		return nil, err
	}
	t := &tuning.Tuning{Base: bots.Of(g).Baseline, With: c.With, Match: match.Match{
		Rules: g, Seed: c.Seed, Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), Cap: c.Cap, Steps: c.Steps,
	}}
	if t.Base == nil {
		return nil, fmt.Errorf("%s has no hand-tuned weights", g.Name)
	}
	if t.With == "" && g.MaxSeats > 1 {
		t.With = "ply=1"
	}
	seats := t.Match.GameSeats()
	t.Match.Units = c.Games / seats
	switch {
	case c.Games < 1 || c.Games%seats != 0:
		return nil, fmt.Errorf("--games %d: want a multiple of %d from %[2]d", c.Games, seats)
	case c.Check < 0 || c.Check%seats != 0:
		return nil, fmt.Errorf("--check %d: want a multiple of %d, or 0 for none", c.Check, seats)
	case c.Workers < 0:
		return nil, fmt.Errorf("--workers %d: want a number from 1, or 0 for one per core", c.Workers)
	case g.MaxSeats > 1 && (c.Cap != 0 || c.Steps != 0):
		return nil, fmt.Errorf("--cap and --steps are for games of one seat, %s has more", g.Name)
	case c.Cap < 0 || c.Steps < 0:
		return nil, fmt.Errorf("--cap %d, --steps %d: want none below 0", c.Cap, c.Steps)
	}
	if strings.Contains(c.With, "weights=") {
		return nil, errors.New("--with: weights are what is tuned: name the first ones with --from")
	}
	if t.From, err = t.Base.Load(c.From); err != nil {
		return nil, err
	}
	if _, err := t.Player("start", t.From); err != nil {
		return nil, fmt.Errorf("--with: %w", err)
	}
	one := t.Candidates() * c.Games
	if t.Generations = c.Budget / one; t.Generations < 1 {
		return nil, fmt.Errorf("--budget %d: want at least %d games, one generation of %d candidates",
			c.Budget, one, t.Candidates())
	}
	return t, nil
}
