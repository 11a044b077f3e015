package single

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/train/selfplay"
)

const gateStream = 0x67617465

// A result is what one game of a gate came to.
type result struct {
	points int
	ended  bool
}

// Gate implements selfplay.Algorithm. It plays one ply deep, or by plans, on seeds that are used
// for nothing else and are the same for every gate. It keeps the net if no earlier one scored higher.
func (c *Config) Gate(ctx context.Context, r *selfplay.Run, p *selfplay.Point) (bool, error) {
	l := r.Learner.(*learner)
	results, err := l.gateGames(ctx)
	if ctx.Err() != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.Games = len(results)
	for _, x := range results {
		p.Points += x.points
		if x.ended {
			p.Ends++
		}
	}
	p.PerGame = float64(p.Points) / float64(max(1, p.Ends))
	p.Score = p.PerGame
	p.Low, p.High = interval(results, p.PerGame)
	p.Kept = true
	for _, q := range r.Curve {
		p.Kept = p.Kept && p.PerGame >= q.PerGame
	}
	return true, nil
}

// gateGames plays the games of a gate. When the gate's time is over no game begins, but the first.
func (l *learner) gateGames(ctx context.Context) ([]*result, error) {
	c, over := l.config, l.run.GateTimer(0.5)
	stop := l.run.GateTimer(1)
	all := make([]*result, c.GateGames)
	policies, err := l.run.Policies(&selfplay.Rollout{Kind: kind, Net: l.Mean})
	if err != nil {
		return nil, err
	}
	var reporting sync.Mutex
	var failed error
	done := 0
	l.run.Parallel(len(policies), c.GateGames, func(worker, i int) {
		if i > 0 && over() {
			return
		}
		steps := 0
		rec, err := match.Play(ctx, match.Game{
			Rules: l.run.Game.Rules, Seed: env.Derive(c.Seed^gateStream, uint64(i)),
			Names: []string{"learned"}, Agents: []env.Agent{policies[worker].(*policy)},
			Enough: func(env.State) bool {
				steps++
				return steps > c.GateSteps || ctx.Err() != nil || stop()
			},
		})
		reporting.Lock()
		defer reporting.Unlock()
		if err != nil {
			failed = errors.Join(failed, err)
			return
		}
		all[i] = &result{rec.Scores[0], !rec.Stopped}
		if done++; l.run.OnGate != nil {
			l.run.OnGate(done, c.GateGames)
		}
	})
	return slices.DeleteFunc(all, func(x *result) bool { return x == nil }), failed
}

// interval is the 95 % interval of points per game that ended, by the delta method on the
// logarithm. The upper bound is 0, for none, if no game ended.
func interval(results []*result, perGame float64) (low, high float64) {
	n, ends, sum := float64(len(results)), 0.0, 0.0
	for _, x := range results {
		d := float64(x.points)
		if x.ended {
			d -= perGame
			ends++
		}
		sum += d * d
	}
	if ends == 0 || n < 2 || perGame == 0 {
		return 0, 0
	}
	width := math.Exp(1.96 * math.Sqrt(sum*n/(n-1)) / (ends * perGame))
	return perGame / width, perGame * width
}
