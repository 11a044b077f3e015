package lambda

import (
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A policy plays the net's best choice, or the baseline's, and notes it.
type policy struct {
	*afterstate.Search
	*Notes
	learner *Learner
	warm    bool
	worth   func(before, after env.State, seat int) float32 // nil if the game has none
}

func newPolicy(l *Learner) *policy {
	p := &policy{Search: afterstate.New(l.run.Game, l.Mean, l.Config.DeepWidth), Notes: l.Notes, learner: l}
	if l.run.Game.Worth != nil {
		p.worth = l.run.Game.Worth()
	}
	return p
}

// Choose implements selfplay.Policy.
func (p *policy) Choose(s *selfplay.Slot, seat int) env.Action {
	explore := p.learner.run.Options.Explore
	if s.Baseline[seat] {
		return Baseline(p.Search, s, seat, explore)
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

// Baseline is the choice of a seat that the baseline plays against the learner.
func Baseline(c *afterstate.Search, s *selfplay.Slot, seat int, explore float64) env.Action {
	i := c.Baseline(s.State, seat)
	if i >= 0 && s.Chance(explore) {
		i = c.Random(i, &s.Rand)
	}
	return c.Action(i)
}

// note notes the choice i and, in a warm start, some of the others.
func (p *policy) note(s *selfplay.Slot, seat, i int) {
	path := p.Append(p.Search, s, seat, i)
	if !p.warm || p.worth == nil {
		return
	}
	if k := p.Root.Find(i); k >= 0 {
		path.Steps[len(path.Steps)-1].worth = p.worth(s.State, p.Root.States[k], seat)
	}
	for range min(p.learner.Config.Others, p.Root.Live-1) {
		k := int(s.Rand.Next() % uint64(p.Root.Live))
		path.otherX = p.AppendRow(path.otherX, k, seat)
		path.otherWorth = append(path.otherWorth, p.worth(s.State, p.Root.States[k], seat))
	}
}
