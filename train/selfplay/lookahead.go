package selfplay

import "blockyard/env"

// floor is what a finished game counts in a target, up or down.
const floor = 8

// An insight is what a look one choice further ahead taught about positions two choices
// deep: rows of features, what the net makes of them and by how much the further look
// differs.
type insight struct {
	x    []float32 // [len(base)][features]
	base []float32
	gain []float32
}

func (n *insight) clear() { n.x, n.base, n.gain = n.x[:0], n.base[:0], n.gain[:0] }

// deliberate plays for seat two choices deep: the best width first choices, each by its
// best second one. Of up to d.samples of these it notes an insight: a second choice, the
// best or by chance as often any, and what the best third one brings.
func (s *slot) deliberate(c *chooser, d deal, seat int) env.Action {
	c.open(&c.root, s.state, seat)
	c.judge(&c.root, seat)
	first := best(c.root.worth)
	if first < 0 || c.root.live == 0 || c.root.worth[first] >= certain {
		return c.choice(first)
	}
	c.rank()
	n := min(c.width, len(c.order))
	picked := s.pick(d.samples, n)
	if d.look > 1 && !duel(s.game) {
		s.foresee(d.look)
	}
	top := float32(0)
	for q, k := range c.order[:n] {
		i, worth := c.root.slot[k], c.root.worth[c.root.slot[k]]
		next, mover := c.root.states[k], seat
		if acting := next.Acting(); !acting.Has(seat) {
			mover = acting.First()
		}
		if mover == seat || duel(s.game) {
			if worth = c.second(next, mover); mover != seat {
				worth = -worth
			}
			for range picked[min(q, len(picked)-1)] {
				s.learnFrom(c, mover, c.root.legal[i], d.look)
			}
		}
		if q == 0 || worth > top {
			first, top = i, worth
		}
	}
	if s.chance(d.explore) {
		first = c.root.slot[c.order[s.rand.Next()%uint64(n)]]
	}
	return c.root.legal[first]
}

// pick spreads looks over the first n choices. A look of a game of turns costs no more than
// a second choice does, so that there may be several a choice.
func (s *slot) pick(looks, n int) (picked [65]int) {
	for range looks {
		i := s.rand.Next() % uint64(min(n, len(picked)-1))
		if picked[i]++; !duel(s.game) {
			picked[i] = 1
		}
	}
	return picked
}

// choice is the root's i-th action, None for no index.
func (c *chooser) choice(i int) env.Action {
	if i < 0 {
		return env.None
	}
	return c.root.legal[i]
}

// learnFrom notes an insight about one of the second choices in c.leaf, after the first
// choice a.
func (s *slot) learnFrom(c *chooser, seat int, a env.Action, look int) {
	if c.leaf.live == 0 {
		return
	}
	i := best(c.leaf.worth)
	k := c.leaf.find(i)
	if k < 0 || s.chance(0.5) {
		k = int(s.rand.Next() % uint64(c.leaf.live))
		i = c.leaf.slot[k]
	}
	base, own := c.leaf.worth[i], c.game.Own
	s.seen.x = append(append(s.seen.x, c.leaf.x[k*own:(k+1)*own]...), c.leaf.shared...)
	s.seen.base = append(s.seen.base, base)
	gain := -base
	switch b := c.leaf.legal[i]; {
	case duel(s.game):
		gain += c.onward(c.leaf.states[k], seat, look)
	case look > 1:
		gain += c.beyond(s.state, seat, [2]env.Action{a, b}, s.fate)
	default:
		gain += c.ahead(s.state, seat, a, b)
	}
	s.seen.gain = append(s.seen.gain, gain)
}

// onward is the mean worth to seat, over the next look choices, of what follows leaf if
// every choice of either seat is the one the net likes best.
func (c *chooser) onward(leaf env.State, seat, look int) float32 {
	c.third.CopyFrom(leaf)
	sum, worth := float32(0), float32(0)
	for n := range look {
		acting, mover := c.third.Acting(), seat
		if acting == 0 {
			return (sum + float32(look-n)*floor*c.third.Result(seat)) / float32(look)
		}
		if !acting.Has(seat) {
			mover = acting.First()
		}
		c.open(&c.last, c.third, mover)
		c.judge(&c.last, mover)
		first := best(c.last.worth)
		if worth = -floor; first >= 0 { // a seat that has to choose and cannot has lost
			worth = min(max(c.last.worth[first], -floor), floor)
		}
		if mover != seat {
			worth = -worth
		}
		if sum += worth; first < 0 {
			return (sum + float32(look-n-1)*worth) / float32(look)
		}
		env.After(c.third, mover, c.last.legal[first])
	}
	return sum / float32(look)
}

// ahead is the mean, over all outcomes of the draw after the first of seat's choices a and
// b in s, of the worth of seat's best third choice.
func (c *chooser) ahead(s env.State, seat int, a, b env.Action) float32 {
	sum := float32(0)
	for p := range c.game.Outcomes {
		c.drawn[0] = uint16(p)
		c.third.CopyFrom(s)
		c.third.Force(c.drawn[:])
		env.After(c.third, seat, a)
		env.After(c.third, seat, b)
		worth := float32(-floor)
		if c.third.Acting() == 0 {
			worth = floor * c.third.Result(seat)
		} else if c.third.Acting().Has(seat) {
			c.open(&c.last, c.third, seat)
			c.judge(&c.last, seat)
			worth = c.last.worth[best(c.last.worth)]
		}
		sum += min(max(worth, -floor), floor)
	}
	return sum / float32(c.game.Outcomes)
}
