package selfplay

import "blockyard/env"

// beyondWidth is how many first choices a decision beyond the second choice goes on with.
const beyondWidth = 4

// foresee draws the futures that all looks of one decision share: fate[k][f] is what the
// k-th choice from here on draws in future f. Every outcome of a draw comes up once over
// the futures, so that luck counts the same for each of the choices compared.
func (s *slot) foresee(look int) {
	for len(s.fate) < look {
		s.fate = append(s.fate, make([]uint16, s.game.Outcomes))
	}
	s.fate = s.fate[:look]
	for _, draws := range s.fate {
		for f := range draws {
			g := int(s.rand.Next() % uint64(f+1))
			draws[f], draws[g] = draws[g], uint16(f)
		}
	}
}

// beyond is the mean, over the futures in fate, of what seat's next choices after the pair
// in s are worth at last: len(fate)-1 of them, each made as in play, by looking at the best
// first choices and all second ones. A choice that looks at the piece at hand alone would
// be another player's, and its values favour other boards.
func (c *chooser) beyond(s env.State, seat int, pair [2]env.Action, fate [][]uint16) float32 {
	sum, t := float32(0), c.third
	for f := range c.game.Outcomes {
		t.CopyFrom(s)
		c.take(t, seat, pair[0], fate[0][f])
		c.take(t, seat, pair[1], fate[1][f])
		worth := float32(-floor)
		for k := 2; ; k++ {
			if t.Acting() == 0 {
				worth = floor * t.Result(seat)
				break
			}
			var a env.Action
			if a, worth = c.twice(t, seat); k == len(fate) || a == env.None {
				break
			}
			c.take(t, seat, a, fate[k][f])
		}
		sum += min(max(worth, -floor), floor)
	}
	return sum / float32(c.game.Outcomes)
}

// take makes seat's choice a in s, with what it draws; nothing in a finished game.
func (c *chooser) take(s env.State, seat int, a env.Action, draw uint16) {
	if s.Acting() == 0 {
		return
	}
	c.drawn[0] = draw
	s.Force(c.drawn[:])
	env.After(s, seat, a)
}

// twice is seat's choice in s by the best second choices after the best few first ones, and
// its worth; None and the least if there is no choice. It leaves c.root and c.leaf alone.
func (c *chooser) twice(s env.State, seat int) (env.Action, float32) {
	l := &c.last
	c.open(l, s, seat)
	c.judge(l, seat)
	first := best(l.worth)
	if first < 0 {
		return env.None, -floor
	}
	if l.live == 0 || l.worth[first] >= certain {
		return l.legal[first], l.worth[first]
	}
	worth := float32(-certain)
	at := first
	for range min(beyondWidth, l.live) {
		k := best(l.out[:l.live])
		l.out[k] = -certain
		if v := c.bestIn(&c.final, l.states[k], seat); v > worth {
			worth, at = v, l.slot[k]
		}
	}
	return l.legal[at], worth
}
