package phases

import (
	"context"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/task"
)

const gateStream = 0x67617465

// Gate implements selfplay.Algorithm. It plays the net against the baseline evaluator and
// against the best net so far, in pairs of games on seeds used for nothing else, the same for
// every gate. It keeps the better net.
func (c *Config) Gate(ctx context.Context, r *selfplay.Run, p *selfplay.Point) (bool, error) {
	net, ply := r.Net().Clone(), c.GatePly
	opponents := []match.Player{Hand(r.Game, ply)}
	if r.Best != nil {
		opponents = append(opponents, Net(r.Game, r.Best, ply))
	}
	p.VersusBest, p.Kept = 0.5, true
	for i, b := range opponents {
		res, err := c.games(ctx, r, i, len(opponents), match.Match{
			Rules: r.Game.Rules, Units: c.GatePairs, Workers: r.Workers,
			Seed: env.Derive(c.Seed^gateStream, uint64(i)), A: Net(r.Game, net, ply), B: b,
		})
		if err != nil || ctx.Err() != nil {
			return false, err
		}
		if i == 0 {
			p.Games, p.Score, p.Low, p.High = res.Games, res.Score, res.Low, res.High
		} else {
			p.VersusBest = res.Score
			p.Kept = p.VersusBest > 0.5
		}
	}
	return true, nil
}

// games plays the i-th of n matches of a gate, for its part of the gate's time at most.
func (c *Config) games(ctx context.Context, r *selfplay.Run, i, n int, m match.Match) (match.TwoPlayerResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := r.GateTimer(1 / float64(n))
	m.Progress = func(games int, _ string) {
		if r.OnGate != nil {
			r.OnGate(i*2*m.Units+games, n*2*m.Units)
		}
		if over() {
			stop()
		}
	}
	return m.TwoPlayer(ctx)
}

// Net is the player that evaluates with net and searches ply plies.
func Net(g *task.Game, net *mlp.Net, ply int) match.Player {
	return match.Player{Name: "learned", New: func(uint64) (env.Agent, error) {
		e, err := g.Learned(net.Clone())
		if err != nil {
			return nil, err
		}
		return search.New(g.Rules, e, search.Options{Ply: ply, Outcomes: g.Outcomes})
	}}
}

// Hand is the player that evaluates with the game's baseline.
func Hand(g *task.Game, ply int) match.Player {
	return match.Player{Name: "hand", New: func(uint64) (env.Agent, error) {
		return search.New(g.Rules, g.Hand(), search.Options{Ply: ply, Outcomes: g.Outcomes})
	}}
}
