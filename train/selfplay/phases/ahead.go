package phases

import (
	"math"

	"blockyard/env"
	"blockyard/train/selfplay/afterstate"
)

// furtherWidth is how many first choices a two-ply decision beyond the second choice searches.
const furtherWidth = 4

// clamp bounds the worth of a position in a target.
func clamp(worth float32) float32 { return min(max(worth, -maxWorth), maxWorth) }

// A mean is that of values. If they are log odds, it is the log odds of the mean probability.
type mean struct {
	logOdds bool
	sum     float32
	n       int
}

// add adds a value, so many times.
func (m *mean) add(worth float32, times int) {
	if m.logOdds {
		worth = odds(worth)
	}
	m.sum += float32(float32(times) * worth) // rounded, so that no machine fuses it
	m.n += times
}

// value is the mean of what was added.
func (m *mean) value() float32 {
	q := m.sum / float32(m.n)
	if m.logOdds {
		return float32(math.Log(float64(q) / (1 - float64(q))))
	}
	return q
}

// playOn is for games of turns. Both seats play on from leaf for look plies, each by the
// choice that the net prefers. It returns the mean worth to seat of what is reached.
func (p *backupPolicy) playOn(leaf env.State, seat, look int) float32 {
	s := p.scratch
	s.CopyFrom(leaf)
	sum := mean{logOdds: p.config.LogOdds}
	for n := range look {
		acting, mover := s.Acting(), seat
		if acting == 0 {
			sum.add(maxWorth*s.Result(seat), look-n)
			break
		}
		if !acting.Has(seat) {
			mover = acting.First()
		}
		p.Evaluate(&p.third, s, mover)
		first := afterstate.Best(p.third.Worth)
		worth := float32(-maxWorth) // a seat that has to choose and cannot has lost
		if first >= 0 {
			worth = clamp(p.third.Worth[first])
		}
		if mover != seat {
			worth = -worth
		}
		if sum.add(worth, 1); first < 0 {
			sum.add(worth, look-n-1)
			break
		}
		env.After(s, mover, p.third.Legal[first])
	}
	return sum.value()
}

// overDraws is the mean, over all outcomes of the draw after the first of seat's choices
// pair in s, of the worth of seat's best third choice.
func (p *backupPolicy) overDraws(s env.State, seat int, pair [2]env.Action) float32 {
	sum := mean{logOdds: p.config.LogOdds}
	for draw := range p.Game.Outcomes {
		t := p.scratch
		p.draw[0] = uint16(draw)
		t.CopyFrom(s)
		t.Force(p.draw[:])
		env.After(t, seat, pair[0])
		env.After(t, seat, pair[1])
		worth := float32(-maxWorth)
		if t.Acting() == 0 {
			worth = maxWorth * t.Result(seat)
		} else if t.Acting().Has(seat) {
			worth = p.BestWorth(&p.third, t, seat)
		}
		sum.add(clamp(worth), 1)
	}
	return sum.value()
}

// drawFutures draws the futures that all samples of one decision share: futures[k][f] is
// what the k-th choice from here on draws in future f. Every outcome of a draw comes up
// once over the futures, so that luck counts the same for each of the choices compared.
func (p *backupPolicy) drawFutures(r *env.Rand, look int) {
	for len(p.futures) < look {
		p.futures = append(p.futures, make([]uint16, p.Game.Outcomes))
	}
	p.futures = p.futures[:look]
	for _, draws := range p.futures {
		for f := range draws {
			g := int(r.Next() % uint64(f+1))
			draws[f], draws[g] = draws[g], uint16(f)
		}
	}
}

// overFutures is the mean, over the futures, of what seat's next choices after the pair in s are
// worth at last: len(futures)-1 of them, each two plies deep, as in play. A choice that considered
// the current piece alone would be another policy's, and its values favour other boards.
func (p *backupPolicy) overFutures(s env.State, seat int, pair [2]env.Action) float32 {
	sum, t := mean{logOdds: p.config.LogOdds}, p.scratch
	for f := range p.Game.Outcomes {
		t.CopyFrom(s)
		p.take(t, seat, pair[0], p.futures[0][f])
		p.take(t, seat, pair[1], p.futures[1][f])
		var worth float32
		for k := 2; ; k++ {
			if t.Acting() == 0 {
				worth = maxWorth * t.Result(seat)
				break
			}
			var a env.Action
			if a, worth = p.twoPly(t, seat); k == len(p.futures) || a == env.None {
				break
			}
			p.take(t, seat, a, p.futures[k][f])
		}
		sum.add(clamp(worth), 1)
	}
	return sum.value()
}

// take makes seat's choice a in s, with what it draws; nothing in a finished game.
func (p *backupPolicy) take(s env.State, seat int, a env.Action, draw uint16) {
	if s.Acting() == 0 {
		return
	}
	p.draw[0] = draw
	s.Force(p.draw[:])
	env.After(s, seat, a)
}

// twoPly is seat's choice in s by the best second choices after the best few first ones, and
// its worth; None and the least worth if there is no choice. It leaves Root and Leaf alone.
func (p *backupPolicy) twoPly(s env.State, seat int) (env.Action, float32) {
	l := &p.third
	p.Evaluate(l, s, seat)
	first := afterstate.Best(l.Worth)
	if first < 0 {
		return env.None, -maxWorth
	}
	if l.Live == 0 || l.Worth[first] >= afterstate.Certain {
		return l.Legal[first], l.Worth[first]
	}
	worth, at := float32(-afterstate.Certain), first
	for range min(furtherWidth, l.Live) {
		k := afterstate.Best(l.Out[:l.Live])
		l.Out[k] = -afterstate.Certain
		if v := p.BestWorth(&p.fourth, l.States[k], seat); v > worth {
			worth, at = v, l.Choice[k]
		}
	}
	return l.Legal[at], worth
}
