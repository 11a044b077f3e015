package phases

import (
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A lambdaPolicy plays the net's best choice and notes it.
type lambdaPolicy struct {
	*afterstate.Search
	noter
	config *Config
}

func newLambdaPolicy(c *Config, s *afterstate.Search) *lambdaPolicy {
	return &lambdaPolicy{Search: s, noter: noter{s.Game}, config: c}
}

// Start implements selfplay.Policy.
func (p *lambdaPolicy) Start(ro *selfplay.Rollout) { p.Net = ro.Net.Clone() }

func (p *lambdaPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Opponent[seat] > 0 {
		return opponentChoice(p.Search, s, seat, p.config.Explore)
	}
	i := p.Best(s.State, seat)
	if i < 0 {
		return env.None
	}
	if s.Chance(p.config.Explore) {
		i = p.Random(i, &s.Rand)
	}
	p.Append(p.Search, s, seat, i)
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
