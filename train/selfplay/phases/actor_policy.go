package phases

import (
	"math"

	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// An actorPolicy draws its choices from the softmax of a net's preferences.
type actorPolicy struct {
	*afterstate.Search
	noter
	config *Config

	prefs   []float32   // the preference of each option
	options []int       // which of Root's live afterstates each leads to first
	optionX [][]float32 // their features, if the search is two plies deep
	sums    []float64   // running sums of the weights of a draw
}

func newActorPolicy(c *Config, s *afterstate.Search) *actorPolicy {
	return &actorPolicy{Search: s, noter: noter{s.Game}, config: c}
}

// Start implements selfplay.Policy.
func (p *actorPolicy) Start(ro *selfplay.Rollout) { p.Net, p.TwoPly = ro.Net.Clone(), ro.TwoPly }

// Choose implements selfplay.Policy. It draws a choice and a second one for comparison, plays the first and notes both
// if they differ. If there is nothing to draw it plays the best choice.
func (p *actorPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Opponent[seat] > 0 {
		return opponentChoice(p.Search, s, seat, p.config.Explore)
	}
	p.list(s.State, seat)
	if len(p.options) == 0 {
		i := p.Best(s.State, seat)
		if i >= 0 {
			p.Append(p.Search, s, seat, i)
		}
		return p.Action(i)
	}
	a, b := p.draw(p.config.Temperature, &s.Rand)
	i := p.Root.Choice[p.options[a]]
	path := p.Append(p.Search, s, seat, i)
	if a != b {
		q, n := &path.pairs, len(p.Game.Features)
		q.x = append(q.x, make([]float32, 2*n)...)
		x := q.x[len(q.x)-2*n:]
		p.optionRow(a, seat, x[:n])
		p.optionRow(b, seat, x[n:])
		q.at = append(q.at, len(path.Steps)-1)
	}
	return p.Root.Legal[i]
}

// list lists what seat's choice in s is drawn from: prefs and options. One ply deep these are the
// afterstates in which the game goes on. Two plies deep they are the Width best of these, each with
// the preference and the features of the seat's best second choice after it, or its own if the seat
// has no second choice at once. There are no options if a choice wins at once or all lose.
func (p *actorPolicy) list(s env.State, seat int) {
	p.prefs, p.options = p.prefs[:0], p.options[:0]
	p.Evaluate(&p.Root, s, seat)
	if b := afterstate.Best(p.Root.Worth); b < 0 || p.Root.Worth[b] >= afterstate.Certain {
		return
	}
	if !p.TwoPly {
		for k := range p.Root.Live {
			p.prefs, p.options = append(p.prefs, p.Root.Worth[p.Root.Choice[k]]), append(p.options, k)
		}
		return
	}
	p.Rank()
	for _, k := range p.Order[:min(p.Width, len(p.Order))] {
		n := len(p.options)
		if n == len(p.optionX) {
			p.optionX = append(p.optionX, make([]float32, len(p.Game.Features)))
		}
		switch v := p.second(k, seat, p.optionX[n]); {
		case v >= afterstate.Certain:
			p.prefs, p.options = p.prefs[:0], p.options[:0]
			return
		case v > -afterstate.Certain:
			p.prefs, p.options = append(p.prefs, v), append(p.options, k)
		}
	}
}

// second returns the worth of seat's best choice after Root's k-th live afterstate, or the afterstate's own if the
// seat has none. It writes the features of the position that has this worth, unless the worth is certain.
func (p *actorPolicy) second(k, seat int, x []float32) float32 {
	s := p.Root.States[k]
	if !s.Acting().Has(seat) {
		p.Row(k, seat, x)
		return p.Root.Worth[p.Root.Choice[k]]
	}
	p.Evaluate(&p.Leaf, s, seat)
	b := afterstate.Best(p.Leaf.Worth)
	if b < 0 {
		return -afterstate.Certain
	}
	if j := p.Leaf.Find(b); j >= 0 {
		p.Leaf.CopyRow(j, p.Game.Own, x)
	}
	return p.Leaf.Worth[b]
}

// draw draws two options, each on its own, from the softmax of prefs over temperature. There is at least one option.
func (p *actorPolicy) draw(temperature float64, r *env.Rand) (a, b int) {
	top, sum := float64(p.prefs[afterstate.Best(p.prefs)]), 0.0
	p.sums = p.sums[:0]
	for _, v := range p.prefs {
		sum += math.Exp((float64(v) - top) / temperature)
		p.sums = append(p.sums, sum)
	}
	return p.drawOne(r), p.drawOne(r)
}

// drawOne draws an option by sums.
func (p *actorPolicy) drawOne(r *env.Rand) int {
	last := len(p.sums) - 1
	u := float64(r.Next()>>11) * (1. / (1 << 53)) * p.sums[last]
	for i, s := range p.sums[:last] {
		if u < s {
			return i
		}
	}
	return last
}

// optionRow writes the features of option i.
func (p *actorPolicy) optionRow(i, seat int, out []float32) {
	if p.TwoPly {
		copy(out, p.optionX[i])
		return
	}
	p.Row(p.options[i], seat, out)
}
