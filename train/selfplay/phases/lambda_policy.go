package phases

import (
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A lambdaPolicy plays the net's best choice and notes it.
type lambdaPolicy struct{ policy }

// Begin implements selfplay.Policy.
func (p *lambdaPolicy) Begin(s *selfplay.Slot) {
	all, ok := s.Notes.(*notes)
	if !ok {
		all = &notes{features: len(p.Game.Features)}
		s.Notes = all
	}
	for i := range all.seats {
		path := &all.seats[i]
		*path = afterstate.Path{X: path.X[:0], Steps: path.Steps[:0]}
	}
}

// End implements selfplay.Policy. Cut has nothing to do: returns treats what is cut off as unknown.
func (p *lambdaPolicy) End(s *selfplay.Slot) {
	all := s.Notes.(*notes)
	for seat := range all.seats {
		if path := &all.seats[seat]; len(path.Steps) > 0 {
			path.End(p.outcome(s.State, seat))
		}
	}
}

// outcome is what seat learns from a finished game, as a chance of winning.
func (p *lambdaPolicy) outcome(s env.State, seat int) float32 {
	if p.Game.Chance != nil {
		return p.Game.Chance(s, seat)
	}
	return (1 + s.Result(seat)) / 2
}

// Choose implements selfplay.Policy.
func (p *lambdaPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Opponent[seat] > 0 {
		return p.opponent(s, seat)
	}
	i := p.Best(s.State, seat)
	if i < 0 {
		return env.None
	}
	if s.Chance(p.config.Explore) {
		i = p.Random(i, &s.Rand)
	}
	p.note(s, seat, i)
	return p.Root.Legal[i]
}

// note appends the row of the choice i of Root to seat's path. A choice that ends the game has no row: a net is never
// asked about finished games.
func (p *lambdaPolicy) note(s *selfplay.Slot, seat, i int) {
	if k, own := p.Root.Find(i), p.Game.Own; k >= 0 {
		s.Notes.(*notes).seats[seat].Add(afterstate.Step{}, p.Root.X[k*own:(k+1)*own], p.Root.Shared)
	}
}
