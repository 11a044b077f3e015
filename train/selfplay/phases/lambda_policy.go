package phases

import (
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A lambdaPolicy plays the net's best choice, or the baseline's, and notes it.
type lambdaPolicy struct {
	*afterstate.Search
	noter
	config *Config
	warm   bool
	worth  func(before, after env.State, seat int) float32 // nil if the game has none
}

func newLambdaPolicy(c *Config, s *afterstate.Search) *lambdaPolicy {
	p := &lambdaPolicy{Search: s, noter: noter{s.Game}, config: c}
	if s.Game.Worth != nil {
		p.worth = s.Game.Worth()
	}
	return p
}

// Start implements selfplay.Policy.
func (p *lambdaPolicy) Start(ro *selfplay.Rollout) {
	p.Net, p.TwoPly, p.warm = ro.Net.Clone(), ro.TwoPly, ro.Baseline
}

func (p *lambdaPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	explore := p.config.Explore
	if s.Opponent[seat] > 0 {
		return opponentChoice(p.Search, s, seat, explore)
	}
	var i int
	if p.warm {
		i = p.Baseline(s.State, seat)
	} else {
		i = p.Best(s.State, seat)
	}
	if i < 0 {
		return env.None
	}
	if s.Chance(explore) {
		i = p.Random(i, &s.Rand)
	}
	p.note(s, seat, i)
	return p.Root.Legal[i]
}

// opponentChoice is the choice of a seat that an opponent plays against the learner.
func opponentChoice(c *afterstate.Search, s *selfplay.Slot, seat int, explore float64) env.Action {
	i := c.Opponent(s.State, seat, int(s.Opponent[seat]))
	if i >= 0 && s.Chance(explore) {
		i = c.Random(i, &s.Rand)
	}
	return c.Action(i)
}

// note notes the choice i and, in a warm start, some of the others.
func (p *lambdaPolicy) note(s *selfplay.Slot, seat, i int) {
	path := p.Append(p.Search, s, seat, i)
	if !p.warm || p.worth == nil {
		return
	}
	if k := p.Root.Find(i); k >= 0 {
		path.Steps[len(path.Steps)-1].worth = p.worth(s.State, p.Root.States[k], seat)
	}
	for range min(p.config.Others, p.Root.Live-1) {
		k := int(s.Rand.Next() % uint64(p.Root.Live))
		path.otherX = p.AppendRow(path.otherX, k, seat)
		path.otherWorth = append(path.otherWorth, p.worth(s.State, p.Root.States[k], seat))
	}
}
