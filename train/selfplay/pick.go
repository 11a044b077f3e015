package selfplay

import (
	"math"

	"blockyard/env"
)

// options lists what seat's choice in s is drawn from: prefs and picks. One choice deep
// these are the afterstates the game goes on in; where the chooser is deep they are the
// width best of these, each with the preference and the features of the seat's best
// second choice after it, or its own if the seat has no second choice at once. picks is
// empty where a choice wins at once or all lose.
func (c *chooser) options(s env.State, seat int) {
	c.prefs, c.picks = c.prefs[:0], c.picks[:0]
	c.open(&c.root, s, seat)
	c.judge(&c.root, seat)
	if b := best(c.root.worth); b < 0 || c.root.worth[b] >= certain {
		return
	}
	if !c.deep {
		for k := range c.root.live {
			c.prefs, c.picks = append(c.prefs, c.root.worth[c.root.slot[k]]), append(c.picks, k)
		}
		return
	}
	c.rank()
	for _, k := range c.order[:min(c.width, len(c.order))] {
		n := len(c.picks)
		if n == len(c.optionX) {
			c.optionX = append(c.optionX, make([]float32, len(c.game.Features)))
		}
		switch v := c.look(k, seat, c.optionX[n]); {
		case v >= certain:
			c.prefs, c.picks = c.prefs[:0], c.picks[:0]
			return
		case v > -certain:
			c.prefs, c.picks = append(c.prefs, v), append(c.picks, k)
		}
	}
}

// look returns the worth of seat's best choice after the root's k-th afterstate, the
// afterstate's own if the seat has none, and writes the features of what it is the worth
// of unless that is certain.
func (c *chooser) look(k, seat int, x []float32) float32 {
	s := c.root.states[k]
	if !s.Acting().Has(seat) {
		c.row(k, seat, x)
		return c.root.worth[c.root.slot[k]]
	}
	c.open(&c.leaf, s, seat)
	c.judge(&c.leaf, seat)
	b := best(c.leaf.worth)
	if b < 0 {
		return -certain
	}
	own := c.game.Own
	for j := range c.leaf.live {
		if c.leaf.slot[j] == b {
			copy(x, c.leaf.x[j*own:(j+1)*own])
			copy(x[own:], c.leaf.shared)
		}
	}
	return c.leaf.worth[b]
}

// draw draws two options, each on its own, from the softmax of prefs over temperature.
// There is at least one option.
func (c *chooser) draw(temperature float64, r *env.Rand) (a, b int) {
	top, sum := float64(c.prefs[best(c.prefs)]), 0.0
	c.sums = c.sums[:0]
	for _, v := range c.prefs {
		sum += math.Exp((float64(v) - top) / temperature)
		c.sums = append(c.sums, sum)
	}
	return c.one(r), c.one(r)
}

// one draws an option by sums.
func (c *chooser) one(r *env.Rand) int {
	last := len(c.sums) - 1
	u := float64(r.Next()>>11) * (1. / (1 << 53)) * c.sums[last]
	for i, s := range c.sums[:last] {
		if u < s {
			return i
		}
	}
	return last
}

// optionRow writes the features of option i.
func (c *chooser) optionRow(i, seat int, out []float32) {
	if c.deep {
		copy(out, c.optionX[i])
		return
	}
	c.row(c.picks[i], seat, out)
}
