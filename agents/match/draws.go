package match

import "blockyard/env"

// Draws makes the random draws of a game follow from a seed and the number of the step, and the last draw of a step,
// such as the next piece, from nothing else. So two games with the same seed get the same pieces whatever is played in
// them and however many other draws that needs. The draws of a game remain independent and equally likely.
type Draws struct {
	Seed uint64
	Rest uint64 // another value changes all draws but the last ones

	trial env.State
	list  []uint16
}

// Last returns the last draw of a step, as far as the step has one: a number for env.Rand, which takes it modulo the
// number of outcomes.
func (d *Draws) Last(step int) uint16 { return uint16(env.Derive(d.Seed, 2*uint64(step)+1) >> 48) }

// Step plays a step of the game.
func (d *Draws) Step(g *env.Game, s env.State, m env.Moves, step int) {
	if d.trial == nil || d.trial.SeatCount() != s.SeatCount() {
		d.trial = g.New(s.SeatCount())
	}
	s.Hide(1<<s.SeatCount()-1, env.Derive(d.Seed^d.Rest, 2*uint64(step)))
	d.trial.CopyFrom(s)
	d.trial.Step(m)
	d.list = d.trial.Draws(d.list[:0])
	if len(d.list) == 0 {
		s.CopyFrom(d.trial)
		return
	}
	d.list[len(d.list)-1] = d.Last(step)
	s.Force(d.list)
	s.Step(m)
}
