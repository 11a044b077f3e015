package single

import (
	"context"

	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/train/selfplay"
)

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
