package selfplay

import (
	"context"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/task"
)

// A Point is what one gate found.
type Point struct {
	Iterations int     `json:"iterations"`
	Rows       int     `json:"rows"`
	Loss       float64 `json:"loss"`
	Score      float64 `json:"score"` // against the hand-tuned evaluator, same search
	Low        float64 `json:"low"`   // 95 % interval
	High       float64 `json:"high"`
	VersusBest float64 `json:"versus_best"` // against the best net so far; 0.5 for the first
	Kept       bool    `json:"kept"`        // this net is now the best
	Seconds    float64 `json:"seconds"`     // of training so far
}

// gate lets the net play the hand-tuned evaluator and the best net so far, in pairs of
// games on seeds used for nothing else, and keeps the better net. ok is false if ctx
// ended before the result was there.
func (r *Run) gate(ctx context.Context) (ok bool, err error) {
	net := r.Net().Clone()
	p := Point{Iterations: r.Counts.Iterations, Rows: r.Counts.Rows, Loss: r.Counts.Loss, VersusBest: 0.5, Seconds: r.Counts.Spent.Seconds()}
	t := match.TwoPlayer{
		Rules: r.Game.Rules, Pairs: r.Config.GatePairs, Workers: r.Workers,
		Seed: env.Derive(r.Config.Seed^gateStream, 0), // the same games for every net
		A:    Net(r.Game, net, r.Config.GatePly), B: Hand(r.Game, r.Config.GatePly),
	}
	res, err := t.Play(ctx)
	if err != nil || ctx.Err() != nil {
		return false, err
	}
	p.Score = res.Pairs.Score()
	p.Low, p.High = res.Pairs.Interval()
	p.Kept = r.Best == nil
	if r.Best != nil {
		t.B, t.Seed = Net(r.Game, r.Best, r.Config.GatePly), env.Derive(r.Config.Seed^gateStream, 1)
		if res, err = t.Play(ctx); err != nil || ctx.Err() != nil {
			return false, err
		}
		p.VersusBest = res.Pairs.Score()
		p.Kept = p.VersusBest > 0.5
	}
	if p.Kept {
		r.Best = net
	}
	r.Curve = append(r.Curve, p)
	r.Counts.Gated++
	if r.backup != nil {
		return true, r.rebase()
	}
	return true, nil
}

// Net is the player that judges with net and looks ply choices ahead.
func Net(g *task.Game, net *mlp.Net, ply int) match.Player {
	return match.Player{Name: "learned", New: func(uint64) (env.Agent, error) {
		e, err := g.Learned(net.Clone())
		if err != nil {
			return nil, err
		}
		return search.New(g.Rules, e, search.Options{Ply: ply, Outcomes: g.Outcomes})
	}}
}

// Hand is the player that judges with the hand-tuned evaluator.
func Hand(g *task.Game, ply int) match.Player {
	return match.Player{Name: "hand", New: func(uint64) (env.Agent, error) {
		return search.New(g.Rules, g.Hand(), search.Options{Ply: ply, Outcomes: g.Outcomes})
	}}
}
