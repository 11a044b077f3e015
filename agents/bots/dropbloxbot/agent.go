package dropbloxbot

import (
	"context"
	"time"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// Width is how many boards a Beam keeps by default.
const Width = 50

// An Agent plays by a Beam: of a fixed width, or by Beam.Fit if the width is 0 and the context has a deadline. It is
// not safe for concurrent use.
type Agent struct {
	beam    *Beam
	width   int
	depth   int
	futures int
}

// NewAgent returns an Agent. width is how many boards its beam keeps, or 0 for as many as the
// time allows; depth is how many of the known blocks it searches, or 0 for all; futures is how many futures a
// lookahead draws after a search of all known blocks, or 0 for none, and needs an Ender. There is no lookahead up to
// a score of 450, where no game is lost.
func NewAgent(r Rater, width, depth, futures int) *Agent {
	return &Agent{beam: NewBeam(r), width: width, depth: depth, futures: futures}
}

// Act implements env.Agent.
func (a *Agent) Act(ctx context.Context, state env.State, _ int) (env.Action, error) {
	p := Of(state.(*dropblox.State))
	p.Depth = a.depth
	var at dropblox.Placement
	var ok bool
	if c := search.NewClock(ctx); a.width == 0 && c.Timed() {
		at, ok = a.beam.Fit(p, c)
	} else {
		width := a.width
		if width == 0 {
			width = Width
		}
		var done bool
		if at, done, ok = a.beam.Choose(p, width, c); done && ok && a.futures > 0 && p.Points > calm {
			at = a.beam.Lookahead(p, at, a.futures, c)
		}
	}
	if !ok {
		return env.None, nil
	}
	return at.Action(), nil
}

// Value is what the line last chosen is worth, in the units of the Rater.
func (a *Agent) Value() float32 { return a.beam.last }

// probe is the width a search that fits a clock begins with, slack the share of the time left that a wider search is
// planned for, and wide the width beyond which a lookahead is a better use of time.
const (
	probe = 24
	slack = 0.7
	wide  = 300
)

// Fit is Choose with a width that makes use of the time until the deadline of c: a narrow search measures how long one
// takes, a wider one fills what is left. What the wider one has not finished in time does not count. If the rater is
// an Ender, the width is limited to 300, and a lookahead takes the rest of the time.
func (b *Beam) Fit(p *Problem, c search.Clock) (at dropblox.Placement, ok bool) {
	begun := time.Now()
	at, done, ok := b.Choose(p, probe, c)
	if !ok || !done {
		return at, ok
	}
	spent := time.Since(begun)
	width := int(slack * probe * float64(c.Left()) / float64(spent+1))
	_, ends := b.rater.(Ender)
	if ends && width > wide {
		width = wide
	} else if width > MaxWidth {
		width = MaxWidth
	}
	if width <= probe {
		return at, true
	}
	better, done, ok := b.Choose(p, width, c)
	if !ok || !done {
		return at, true
	}
	if ends && width == wide {
		better = b.Lookahead(p, better, MaxFutures, c)
	}
	return better, true
}

// Leftmost moves every block as far to the left as it goes, without turning it, and drops it there. It is the sample
// player of the contest: a program that plays as it does reads the state and moves a block as it should.
type Leftmost struct{}

// Act implements env.Agent.
func (Leftmost) Act(_ context.Context, state env.State, _ int) (env.Action, error) {
	s := state.(*dropblox.State)
	b := s.Block(0)
	for dropblox.Left.Carry(&b, &s.Taken) {
	}
	b.Drop(&s.Taken)
	return dropblox.Placement{J: int(b.Center.J), I: int(b.Center.I)}.Action(), nil
}
