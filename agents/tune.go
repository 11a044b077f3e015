package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/agents/valuenet"
	"blockyard/env"
	"blockyard/env/games"
)

type tuneCmd struct {
	Game   string  `arg:"" help:"Name of the game: blockbattle or a variant of it."`
	Out    string  `required:"" placeholder:"FILE" help:"Write the weights here, for hand:weights=FILE."`
	From   string  `placeholder:"FILE" help:"Start from these weights instead of the ones hand plays with."`
	Ply    int     `default:"1" help:"How many choices the players look ahead. Default ${default}."`
	Pairs  int     `default:"12000" help:"Pairs of games to learn from. Default ${default}."`
	Seed   uint64  `default:"1" help:"Seed of all games and steps. Default ${default}."`
	Spread float64 `default:"0.15" help:"How far the two players of a pair are from the weights, as a part of each. Default ${default}."`
	Gain   float64 `default:"0.3" help:"How far a pair won both ways moves the weights, as a part of the spread. Default ${default}."`
	Check  int     `default:"400" help:"Games against the starting weights at the end, on other seeds; 0 for none. Default ${default}."`
	Quiet  bool    `short:"q" help:"No progress bar on standard error."`
}

// Help tells more about the command.
func (*tuneCmd) Help() string {
	return `Simultaneous perturbation: for each pair of games all weights are moved at once, each up
or down by chance; one player gets them so, the other the opposite, and the weights take
a step towards the one that scored more. What is written is the mean over the second half of the
way. One pair after another on one core: the same seed gives the same weights. Ctrl-C
ends early and keeps what there is.`
}

// Run tunes and prints how the result plays against where it started.
func (c *tuneCmd) Run(ctx context.Context, con *console) error {
	g, from, err := c.check()
	if err != nil {
		return usage{err}
	}
	report := func(int) {}
	if !c.Quiet && terminal(con.err) {
		bar := newBar(con.err, c.Pairs, "pairs")
		report = func(n int) { _ = bar.Set(n) }
		defer func() { _ = bar.Finish() }()
	}
	tuned, n, err := c.climb(ctx, g, from, report)
	if err != nil {
		return err
	}
	if err := valuenet.WriteFile(c.Out, tuned.JSON()); err != nil {
		return err
	}
	fmt.Fprintf(con.out, "%d pairs, weights in %s\n", n, c.Out)
	if c.Check == 0 || ctx.Err() != nil {
		return nil
	}
	t := match.Table{Rules: g, Pairs: c.Check / 2, Seed: ^c.Seed, A: c.player(g, tuned), B: c.player(g, from)}
	r, err := t.Play(ctx)
	if err != nil || r.Games() == 0 {
		return err
	}
	low, high := r.Pairs.Interval()
	fmt.Fprintf(con.out, "against the start: %.1f %% of %d games, 95 %% interval %.1f to %.1f\n",
		100*r.Pairs.Score(), r.Games(), 100*low, 100*high)
	return nil
}

// check returns the game and the weights to start from.
func (c *tuneCmd) check() (*env.Game, blockbattlebot.Weights, error) {
	var none blockbattlebot.Weights
	g, err := games.Lookup(c.Game)
	if err != nil {
		return nil, none, err
	}
	name, _, _ := strings.Cut(g.Name, ":")
	switch {
	case name != "blockbattle":
		return nil, none, fmt.Errorf("%s has no weights to tune; blockbattle has", g.Name)
	case c.Pairs < 1 || c.Check < 0 || c.Check%2 != 0:
		return nil, none, errors.New("--pairs counts from 1, --check is an even number from 0")
	case !(c.Spread > 0 && c.Spread < 1) || !(c.Gain > 0 && c.Gain < 10):
		return nil, none, errors.New("--spread is between 0 and 1, --gain between 0 and 10")
	}
	if _, err := search.New(g, blockbattlebot.NewHand(), search.Options{Ply: c.Ply, Outcomes: 1}); err != nil || c.Ply > 2 {
		return nil, none, fmt.Errorf("--ply %d: want 1 or 2", c.Ply)
	}
	w, err := blockbattlebot.LoadWeights(c.From)
	return g, w, err
}

// player plays with the weights w.
func (c *tuneCmd) player(g *env.Game, w blockbattlebot.Weights) match.Player {
	return match.Player{Name: "hand", New: func(uint64) (env.Agent, error) {
		return search.New(g, &blockbattlebot.Hand{Weights: w}, search.Options{Ply: c.Ply})
	}}
}

// climb takes a step for each pair of games, up to c.Pairs of them, and returns the mean
// of where it came by and how many pairs were played.
func (c *tuneCmd) climb(ctx context.Context, g *env.Game, w blockbattlebot.Weights, report func(int)) (blockbattlebot.Weights, int, error) {
	const least = 0.3 // what a weight near 0 is moved as if it were
	scale := w
	for i, v := range w {
		scale[i] = float32(math.Max(math.Abs(float64(v)), least))
	}
	mean := w
	var coin env.Rand
	coin.Seed(c.Seed)
	for n := 0; n < c.Pairs; n++ {
		up, down, signs := w, w, coin.Next()
		for i := range w {
			d := float32(c.Spread) * scale[i] * float32(int(signs>>uint(i)&1)*2-1)
			up[i], down[i] = w[i]+d, w[i]-d
		}
		t := match.Table{Rules: g, Pairs: 1, Seed: env.Derive(c.Seed, uint64(n)), A: c.player(g, up), B: c.player(g, down)}
		r, err := t.Play(ctx)
		if err != nil {
			return mean, n, err
		}
		if r.Games() == 0 {
			return mean, n, nil // cut short
		}
		done := float64(n) / float64(c.Pairs)
		step := float32(c.Gain * (2*r.Pairs.Score() - 1) / (1 + 2*done))
		late := 1 / float32(math.Max(float64(n+1)-float64(c.Pairs)/2, 1))
		for i := range w {
			w[i] += step * (up[i] - down[i]) / 2
			mean[i] += (w[i] - mean[i]) * late // w itself until half of the way is done
		}
		report(n + 1)
	}
	return mean, c.Pairs, nil
}
