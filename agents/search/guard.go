package search

import "blockyard/env"

// A Guard knows which actions may lose at once to what other seats do in the same step. A search of a seat's own
// actions does not see that.
type Guard interface {
	// Risky sets out[i] if seat may have lost in children[i], the positions that its actions in s lead to, after what
	// the other seats can do in s. len(out) == len(children) ≥ 1. Risky must not change or keep the positions.
	Risky(s env.State, seat int, children []env.State, out []bool)
}

// exclude takes the live children that are risky out of the search, unless all are. It reports whether there are any.
func (l *level) exclude(g Guard, s env.State, seat int) bool {
	if g == nil || l.live == 0 {
		return false
	}
	for len(l.risky) < l.live {
		l.risky = append(l.risky, false)
	}
	risky := l.risky[:l.live]
	for k := range risky {
		risky[k] = false
	}
	g.Risky(s, seat, l.states[:l.live], risky)
	kept := 0
	for k, r := range risky {
		if r {
			continue
		}
		l.states[kept], l.states[k] = l.states[k], l.states[kept]
		risky[kept], risky[k] = risky[k], risky[kept]
		l.slot[kept], l.slot[k] = l.slot[k], l.slot[kept]
		kept++
	}
	if kept == 0 || kept == l.live {
		return false
	}
	for k := kept; k < l.live; k++ {
		l.value[l.slot[k]] = -Win // excluded
	}
	l.live = kept
	return true
}
