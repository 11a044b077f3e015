package phases

import (
	"context"
	"fmt"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

const gateStream = 0x67617465

// testPairs is how many times GatePairs the test may take: nets of neighbouring stages split most pairs.
const testPairs = 4

// Gate plays the net against the baseline, or GateAgainst, and the best net so far, on the same seeds for every gate.
// It keeps the net if it holds its own in the last match.
func (c *Config) Gate(ctx context.Context, r *selfplay.Run, p *selfplay.Point) (bool, error) {
	net, ply := r.Net().Clone(), c.GatePly
	matches, err := c.opponents(r.Game)
	if err != nil {
		return false, err
	}
	others := len(matches)
	if r.Best != nil {
		m := match.Match{Units: c.GatePairs, Players: []match.Player{{}, Net(r.Game, r.Best, ply)}}
		if c.GateElo > 0 {
			m.Units, m.SPRT = testPairs*c.GatePairs, &match.SPRT{Elo1: c.GateElo, Alpha: 0.05, Beta: 0.05}
		}
		matches = append(matches, m)
	}
	games, before := 0, 0
	for _, m := range matches {
		games += 2 * m.Units
	}
	var against []string
	for _, text := range c.GateAgainst {
		name, _ := bots.Alias(text)
		against = append(against, name)
	}
	p.VersusBest, p.Kept, p.Against = 0.5, true, strings.Join(against, ", ")
	var pairs match.Pairs
	for i, m := range matches {
		m.Rules, m.Workers, m.Players[0] = r.Game.Rules, r.Workers, Net(r.Game, net, ply)
		m.Seed = env.Derive(c.Seed^gateStream, uint64(i))
		limited, stop := r.LimitGate(ctx, &m, 1/float64(len(matches)), before, games)
		res, err := m.Play(limited)
		stop()
		if err != nil || ctx.Err() != nil {
			return false, err
		}
		before += 2 * m.Units
		if i < others {
			for k, n := range res.Meetings[0].Pairs {
				pairs[k] += n
			}
			p.Games += res.Games
			p.Score = pairs.Score()
			p.Low, p.High = pairs.Interval()
		} else {
			p.VersusBest = res.Meetings[0].Score.Value
			p.Kept = c.holds(res.Meetings[0].Score) && (len(c.GateAgainst) == 0 || p.Score >= bestScore(r.Curve))
		}
	}
	return true, nil
}

// holds reports whether a net with this score against the best one so far takes its place. It has trained longer, so
// it does if the two are level. A gate without a test is too short to tell nets of neighbouring stages apart: there it
// does unless the whole interval is below half.
func (c *Config) holds(score match.Estimate) bool {
	if c.GateElo > 0 {
		return score.Value >= 0.5
	}
	return score.High >= 0.5
}

// bestScore is the score that the best net so far had at its gate.
func bestScore(curve []selfplay.Point) (score float64) {
	for _, p := range curve {
		if p.Kept {
			score = p.Score
		}
	}
	return score
}

// opponents are the matches of a gate against others than nets of the run. Their first player is missing.
func (c *Config) opponents(g *games.Game) ([]match.Match, error) {
	if len(c.GateAgainst) == 0 {
		return []match.Match{{Units: c.GatePairs, Players: []match.Player{{}, searcher(g, "hand", c.GatePly, nil)}}}, nil
	}
	var list []match.Match
	for i, name := range c.GateAgainst {
		b, err := c.opponent(g, name)
		if err != nil {
			return nil, err
		}
		units := c.GatePairs * (i + 1) / len(c.GateAgainst)
		units -= c.GatePairs * i / len(c.GateAgainst)
		list = append(list, match.Match{Units: units, Players: []match.Player{{}, b}})
	}
	return list, nil
}

// opponent is an agent of GateAgainst. By default it searches as many plies as the net does.
func (c *Config) opponent(g *games.Game, name string) (match.Player, error) {
	text := bots.Foreign(name, nil)
	if c.GateText != nil {
		text = c.GateText(name)
	}
	a, err := bots.Parse(g.Rules, text)
	plain := !strings.Contains(name, ":")
	if err == nil && plain && a.Kind == bots.Ours && a.Spec != "random" && a.Spec != "first" {
		a, err = bots.Parse(g.Rules, bots.Foreign(fmt.Sprintf("%s:ply=%d", name, c.GatePly), nil))
	}
	var p match.Player
	if err == nil {
		p.Name, _ = bots.Alias(name)
		p.New, err = a.Factory()
	}
	if err != nil {
		err = fmt.Errorf("gate against %s: %w", name, err)
	}
	return p, err
}

// Net returns the player that evaluates positions by copies of net, and searches ply plies deep.
func Net(g *games.Game, net *mlp.Net, ply int) match.Player {
	return searcher(g, "learned", ply, net)
}

func searcher(g *games.Game, name string, ply int, net *mlp.Net) match.Player {
	return match.Player{Name: name, New: func(uint64) (env.Agent, error) {
		e, err := g.Evaluator(net)
		if err != nil {
			return nil, err
		}
		return search.New(g.Rules, e, search.Options{Ply: ply, Outcomes: g.Outcomes})
	}}
}
