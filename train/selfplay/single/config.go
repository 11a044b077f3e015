// Package single trains a value network for a game of one seat, by TD(λ) on the points that its actions score, each
// times the game's unit. The network plays greedily, by the reward plus the discounted value of the afterstate. The
// target of an afterstate follows from the next action, its reward r and its afterstate:
//
//	G = r + γ·((1-λ)·V(next) + λ·G(next)),   0 beyond the end of a game
//
// With Keep above 1, an afterstate is a row in several iterations, for which V(next) is computed again. If the game has
// a planner, rows are the positions in which plans end, which a search evaluates, and r is what the second of two
// plans promises beyond the first. train/README.md says more.
package single

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// A Config is the settings of a run of a game of one seat. It implements selfplay.Algorithm.
type Config struct {
	selfplay.Options

	Keep      int     // number of latest rollouts that every iteration trains on
	Lambda    float64 // of the returns
	Discount  float64 // γ; 0 is the game's
	Rate      float64 // learning rate at first
	RateEnd   float64 // and at the end; it falls along half a cosine
	DeepWidth int     `json:"Width"` // of the search that a planner makes
	Warm      float64 // share of the budget in which the baseline plans, if the game has a planner
	Longest   int     // choices after which a game is replaced by a new one
	GateGames int     // games per gate, always from the same seeds
	GateSteps int     // choices after which such a game is stopped
}

// Default is the recipe of a game, some minutes on one core, from random weights and without plans of the baseline.
func Default(g *games.Game) Config {
	c := Config{
		Options: selfplay.Options{
			Seed: 1, Hidden: []int{32}, Batch: 256, Games: 64, Rounds: 64, Iterations: 3000,
			Mean: 30, Late: 0.8, Gates: 10,
		},
		Keep: 1, DeepWidth: 6, Lambda: 0.5, Rate: 1e-3, RateEnd: 2e-5, Longest: 200, GateGames: 64, GateSteps: 5000,
	}
	if g.Solo != nil && g.Solo.Survival != "" { // 80 million placements, those of gates included
		c.Iterations, c.Gates, c.GateGames = 860, 4, 16
	}
	if g.Solo != nil && g.Solo.Planner != nil {
		c.Discount = 0.9995 // without one, it takes more turns for as many points
		c.Hidden, c.Rounds, c.Keep, c.Iterations, c.Mean = []int{64}, 32, 24, 400, 15
		c.Late, c.Longest, c.Lambda, c.Explore, c.Gates, c.GateGames, c.GateSteps = 1, 1000, 0.8, 0.03, 4, 40, 10000
	}
	return c
}

func (c *Config) discount(g *games.Game) float64 { return cmp.Or(c.Discount, g.Solo.Discount) }

const maxRows = 1 << 19 // bounds the rows of all rollouts that are kept

// Check implements selfplay.Algorithm, for games of one seat that say what their points are worth.
func (c *Config) Check(g *games.Game) error {
	if g.Solo == nil || g.Rules.MaxSeats != 1 {
		return errors.New("not a game of one seat that says what its points are worth")
	}
	if len(c.Opponents) > 0 {
		return errors.New("opponents are for games of several seats: leave them out")
	}
	const most = 1 << 20
	if err := cmp.Or(c.Options.Check(),
		selfplay.CheckShare("lambda", c.Lambda), selfplay.CheckShare("discount", c.Discount),
		selfplay.CheckShare("warm", c.Warm),
		selfplay.CheckRate("rate", c.Rate), selfplay.CheckRate("last rate", c.RateEnd),
		selfplay.CheckCount("keep", c.Keep, most), selfplay.CheckCount("width", c.DeepWidth, most),
		selfplay.CheckCount("longest game", c.Longest, most), selfplay.CheckCount("gate games", c.GateGames, most),
		selfplay.CheckCount("gate steps", c.GateSteps, most),
	); err != nil {
		return err
	}
	if n := c.Keep * c.Games * c.Rounds; n > maxRows {
		return fmt.Errorf("%d rows are kept, at most %d can be: lower keep, games or rounds", n, maxRows)
	}
	return nil
}

const gateStream = 0x67617465

// Gate implements selfplay.Algorithm. It plays one ply deep, or by plans, on seeds that are used
// for nothing else and are the same for every gate. It keeps the net if no earlier one scored higher.
func (c *Config) Gate(ctx context.Context, r *selfplay.Run, p *selfplay.Point) (bool, error) {
	ro := selfplay.Rollout{Kind: kind, Net: r.Net()}
	m := match.Match{
		Rules: r.Game.Rules, Units: c.GateGames, Seed: c.Seed ^ gateStream, Steps: c.GateSteps, Workers: r.Workers,
		Players: []match.Player{{Name: "learned", New: func(uint64) (env.Agent, error) {
			player := c.newPolicy(r.Game, &ro)
			player.Start(&ro)
			return player, nil
		}}},
	}
	limited, stop := r.LimitGate(ctx, &m, 1, 0, c.GateGames)
	defer stop()
	res, err := m.Play(limited)
	if err != nil || ctx.Err() != nil {
		return false, err
	}
	s := res.Players[0]
	p.Games, p.Points, p.Ends = s.Games, s.Points.Total, s.Games-s.Ends[match.Limit]
	p.PerGame = float64(p.Points) / float64(max(1, p.Ends))
	within := *s.Points.PerEnd
	if p.Ends == p.Games {
		within = s.Points.Mean
	}
	p.Score, p.Low, p.High, p.Kept = p.PerGame, within.Low, within.High, true
	for _, q := range r.Curve {
		p.Kept = p.Kept && p.PerGame >= q.PerGame
	}
	return true, nil
}

// Flags are the flags of a new run in a game of one seat. Their help texts are in selfplay.FlagHelp.
type Flags struct {
	Discount  *float64 `help:"${discount}" placeholder:"X" group:"TD(λ)" part:"planner"`
	Keep      *int     `help:"${keep}" placeholder:"N" group:"Games of one seat" part:"alone"`
	Longest   *int     `help:"${longest}" placeholder:"N" group:"Games of one seat" part:"alone"`
	GateGames *int     `help:"${gate_games}" placeholder:"N" group:"Games of one seat" part:"alone"`
	GateSteps *int     `help:"${gate_steps}" placeholder:"N" group:"Games of one seat" part:"alone"`
}

// Validate refuses a discount of 0, which stands for the game's own in a Config, for the command line.
func (f *Flags) Validate() error {
	if f.Discount != nil && *f.Discount == 0 {
		return errors.New("--discount is 0, want more than 0, up to 1")
	}
	return nil
}

// Config returns the settings that the flags ask for, defaults elsewhere. It refuses flags of parts that the game does
// not have.
func (f *Flags) Config(g *games.Game, run *selfplay.Flags) (*Config, error) {
	c := Default(g)
	run.Apply(&c.Options, &c)
	selfplay.Set(&c, f)
	have := parts(true, g.Solo.Planner != nil, "this game has none")
	return &c, cmp.Or(have.Refuse(f), have.Refuse(run))
}

// Refuse returns an error for the first flag that was given, in a game of several seats.
func (f *Flags) Refuse() error { return parts(false, false, "this game has several seats").Refuse(f) }

// parts says which parts a run has: of a game of one seat, with a planner or not. hint is about those that it has not.
func parts(one, plans bool, hint string) selfplay.Parts {
	alone := selfplay.Part{Name: "games of one seat", Used: one, Hint: hint}
	planner := selfplay.Part{Name: "games with a planner (Dropblox)", Used: plans, Hint: hint}
	return selfplay.Parts{"alone": alone, "values": alone, "planner": planner, "warm": planner, "search": planner}
}
