package dropbloxcontest

import (
	"fmt"
	"math/big"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// A Recorder turns a local game into a record of actions.
type Recorder struct {
	rec  *record.Record
	err  error
	last dropblox.State // without the effects of the clock
	buf  []env.Action
}

// Record returns a recorder for a game that has not begun. who names the program in the record.
func Record(l *Local, seed, who string) (*Recorder, error) {
	n, ok := new(big.Int).SetString(seed, 10)
	if !ok {
		return nil, fmt.Errorf("seed %.20q: want a decimal integer", seed)
	}
	r := &Recorder{last: l.Game}
	if n.Abs(n).IsUint64() {
		r.rec = record.New(dropblox.Game, n.Uint64(), []string{who})
	} else { // too large for the seed of a record
		start, err := env.Encode(nil, &l.Game)
		if err != nil {
			return nil, err
		}
		r.rec = record.New(dropblox.Game, 0, []string{who})
		r.rec.Start = start
	}
	l.Watch = r.watch
	return r, nil
}

// watch records a turn as an action.
func (r *Recorder) watch(s *dropblox.State, commands []dropblox.Command) {
	a, err := r.action(s, commands)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.rec.Add(s.Acting(), env.Alone(0, a))
	r.last = *s
	r.last.Play(commands)
}

// action finds the action that puts the block where the commands and the drop put it.
func (r *Recorder) action(s *dropblox.State, commands []dropblox.Command) (env.Action, error) {
	b := s.Block(0)
	for _, c := range commands {
		c.Carry(&b, &s.Taken)
	}
	b.Drop(&s.Taken)
	want := squares(&b)
	r.buf = s.Legal(0, r.buf[:0])
	for _, a := range r.buf {
		p, at := dropblox.At(a), s.Block(0)
		at.Center = dropblox.Cell{I: int8(p.I), J: int8(p.J)}
		for range p.R {
			for k, c := range at.Cells() {
				at.Offsets[k] = c.Turned()
			}
		}
		if squares(&at) == want {
			return a, nil
		}
	}
	return env.None, fmt.Errorf("turn %d: no action covers the squares of %s", s.Turns, b.String())
}

// squares returns the squares of a block.
func squares(b *dropblox.Block) (set dropblox.Field) {
	for _, o := range b.Cells() {
		set[b.Center.J+o.J] |= 1 << uint(b.Center.I+o.I)
	}
	return set
}

// End returns the record of a game that is over, or broken off.
func (r *Recorder) End(reason Reason) (*record.Record, error) {
	r.rec.End(&r.last)
	r.rec.Meta = map[string]string{"reason": string(reason)}
	if r.err == nil {
		r.err = record.Check(dropblox.Game, r.rec)
	}
	if r.err != nil {
		return nil, fmt.Errorf("the game as actions: %w", r.err)
	}
	return r.rec, nil
}
