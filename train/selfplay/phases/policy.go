package phases

import (
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A policy is what all policies have in common.
type policy struct {
	*afterstate.Search
	config *Config
}

// Start implements selfplay.Policy.
func (p *policy) Start(ro *selfplay.Rollout) { p.Net = ro.Net.Clone() }

// End implements selfplay.Policy.
func (p *policy) End(*selfplay.Slot) {}

// Cut implements selfplay.Policy.
func (p *policy) Cut(*selfplay.Slot) {}

// opponent is the choice of a seat that an opponent plays against the learner.
func (p *policy) opponent(s *selfplay.Slot, seat int) env.Action {
	i := p.Opponent(s.State, seat, int(s.Opponent[seat]))
	if i >= 0 && s.Chance(p.config.Explore) {
		i = p.Random(i, &s.Rand)
	}
	return p.Action(i)
}
