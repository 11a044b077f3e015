package commands

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"blockyard/datasets/program"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/games"
)

type tuneCmd struct {
	Game   string  `arg:"" help:"Name of the game, or of a variant of it."`
	Out    string  `required:"" placeholder:"FILE" help:"Write the weights to this file, for hand:weights=FILE."`
	From   string  `placeholder:"FILE" help:"Start from these weights; by default from those of hand."`
	With   string  `placeholder:"OPTIONS" help:"Search options of both agents; ply=1 by default with several seats."`
	Pairs  int     `default:"12000" help:"Pairs of games to play."`
	Cap    int     `placeholder:"N" help:"In a game of one seat: stop a game at this score."`
	Steps  int     `placeholder:"N" help:"In a game of one seat: stop a game after this many actions."`
	Seed   uint64  `default:"1" help:"Seed of all games and perturbations."`
	Spread float64 `default:"0.15" help:"Size of the perturbations, as a fraction of each weight."`
	Gain   float64 `default:"0.3" help:"Step after a pair that one agent won twice, as a fraction of the perturbation."`
	Check  int     `default:"400" help:"Games against the starting weights at the end; 0 for none."`
	Quiet  bool    `short:"q" help:"Print no progress bar."`
}

// Help is printed with the flags.
func (*tuneCmd) Help() string {
	return `The method is simultaneous perturbation (SPSA). For each pair of games, every weight is moved
up or down at random for one agent and the opposite way for the other; then the weights
take a step towards the agent that scored more. A pair is two games from one seed with the
seats swapped; in a game of one seat, one game of each agent from the same seed. The
result is the mean over the second half of the steps. The pairs run one after another on
one core, so the same seed gives the same weights. Ctrl-C ends early and writes the weights
reached so far. The games of --check have other seeds.

--with takes the options that follow hand: in an AGENT, such as width=5 in Dropblox.

  agents tune blockbattle --out mine.json
  agents tune wintetris --cap 2000 --out mine.json
  agents tune dropblox --with width=4 --pairs 500 --out mine.json`
}

// Run tunes, writes the weights and prints their score against the starting weights.
func (c *tuneCmd) Run(ctx context.Context, con *console) error {
	t, from, err := c.tuner()
	if err != nil {
		return program.Usage(err)
	}
	made := program.Begin("agents", strconv.FormatUint(c.Seed, 10))
	bar := con.Progress(c.Quiet, c.Pairs, "pairs")
	defer bar.Close()
	tuned, n, err := t.climb(ctx, from, bar.Set)
	if err != nil {
		return err
	}
	if err := mlp.WriteFile(c.Out, t.base.Format(tuned)); err != nil {
		return err
	}
	if err := made.WriteBeside(c.Out); err != nil {
		return err
	}
	fmt.Fprintf(con.Out, "%d pairs, weights in %s\n", n, c.Out)
	if c.Check == 0 || ctx.Err() != nil {
		return nil
	}
	games, share, err := t.meet(ctx, tuned, from, c.Check/2, ^c.Seed)
	if err != nil || games == 0 {
		return err
	}
	fmt.Fprintf(con.Out, "against the start: %.1f %% of %d games, 95 %% interval %.1f to %.1f\n",
		100*share.Value, games, 100*share.Low, 100*share.High)
	return nil
}

// tuner checks the flags and returns the tuner they describe and its starting weights.
func (c *tuneCmd) tuner() (*tuner, []float32, error) {
	g, err := games.Open(c.Game)
	if err != nil {
		return nil, nil, err
	}
	t := &tuner{tuneCmd: c, rules: g, with: c.With}
	if t.base = bots.Of(g).Baseline; t.base == nil {
		return nil, nil, fmt.Errorf("%s has no weights to tune", g.Name)
	}
	if t.with == "" && g.MaxSeats > 1 {
		t.with = "ply=1"
	}
	switch {
	case c.Pairs < 1:
		return nil, nil, fmt.Errorf("--pairs %d: want a number from 1", c.Pairs)
	case c.Check < 0 || c.Check%2 != 0:
		return nil, nil, fmt.Errorf("--check %d: want an even number from 0", c.Check)
	case !(c.Spread > 0 && c.Spread < 1):
		return nil, nil, fmt.Errorf("--spread %g: want a number between 0 and 1", c.Spread)
	case !(c.Gain > 0 && c.Gain < 10):
		return nil, nil, fmt.Errorf("--gain %g: want a number between 0 and 10", c.Gain)
	case g.MaxSeats > 1 && (c.Cap != 0 || c.Steps != 0):
		return nil, nil, fmt.Errorf("--cap and --steps are for games of one seat, %s has more", g.Name)
	case c.Cap < 0 || c.Steps < 0:
		return nil, nil, fmt.Errorf("--cap %d, --steps %d: want none below 0", c.Cap, c.Steps)
	}
	w, err := t.base.Load(c.From)
	if err != nil {
		return nil, nil, err
	}
	if _, err := bots.HandTuned(t.rules, w, t.with); err != nil {
		return nil, nil, fmt.Errorf("--with: %w", err)
	}
	return t, w, nil
}

// A tuner tunes the weights of one game's baseline.
type tuner struct {
	*tuneCmd
	rules *env.Game
	base  *entry.Baseline
	with  string
}

// meet plays pairs of games between the weights a and b. It returns the number of games played and the share that a
// won, draws counting half.
func (t *tuner) meet(ctx context.Context, a, b []float32, pairs int, seed uint64) (int, match.Estimate, error) {
	var players [2]match.Player
	for k, w := range [][]float32{a, b} {
		f, err := bots.HandTuned(t.rules, w, t.with)
		if err != nil {
			return 0, match.Estimate{}, err
		}
		players[k] = match.Player{Name: "hand", New: f}
	}
	m := match.Match{
		Rules: t.rules, A: players[0], B: players[1], Units: pairs, Seed: seed, Cap: t.Cap, Steps: t.Steps,
	}
	if t.rules.MaxSeats == 1 {
		r, err := m.SinglePlayer(ctx)
		return 2 * r.Games, match.Estimate{Value: r.Score, Low: r.Low, High: r.High}, err
	}
	r, err := m.TwoPlayer(ctx)
	return r.Games, match.Estimate{Value: r.Score, Low: r.Low, High: r.High}, err
}

// climb takes a step for each of t.Pairs pairs of games. It returns the mean weights over the second half of the
// steps, and the number of pairs played.
func (t *tuner) climb(ctx context.Context, from []float32, report func(int)) ([]float32, int, error) {
	w, mean, scale := slices.Clone(from), slices.Clone(from), scales(from)
	up, down, sign := make([]float32, len(w)), make([]float32, len(w)), make([]float32, len(w))
	var coin env.Rand
	coin.Seed(t.Seed)
	for n := 0; n < t.Pairs; n++ {
		randomSigns(&coin, sign)
		for i := range w {
			d := float32(t.Spread) * scale[i] * sign[i]
			up[i], down[i] = w[i]+d, w[i]-d
		}
		played, share, err := t.meet(ctx, up, down, 1, env.Derive(t.Seed, uint64(n)))
		if err != nil {
			return mean, n, err
		}
		if played == 0 {
			return mean, n, nil // ctx ended
		}
		done := float64(n) / float64(t.Pairs)
		step := float32(t.Gain * (2*share.Value - 1) / (1 + 2*done))
		late := 1 / float32(math.Max(float64(n+1)-float64(t.Pairs)/2, 1))
		for i := range w {
			w[i] = max(-entry.MaxWeight, min(w[i]+step*(up[i]-down[i])/2, entry.MaxWeight))
			mean[i] += (w[i] - mean[i]) * late // equals w in the first half
		}
		report(n + 1)
	}
	return mean, t.Pairs, nil
}

// randomSigns fills signs with 1 and -1 at random, from one random word for every 64.
func randomSigns(coin *env.Rand, signs []float32) {
	var word uint64
	for i := range signs {
		if i%64 == 0 {
			word = coin.Next()
		}
		signs[i] = float32(int(word>>(i%64)&1)*2 - 1)
	}
}

// scales are the perturbation scales of the weights: their sizes, or for weights near 0 a small fraction of the mean
// size.
func scales(w []float32) []float32 {
	sum := 0.0
	for _, v := range w {
		sum += math.Abs(float64(v))
	}
	least := sum / float64(len(w)) / 40
	if least == 0 {
		least = 1
	}
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = float32(math.Max(math.Abs(float64(v)), least))
	}
	return out
}
