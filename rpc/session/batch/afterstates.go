package batch

import (
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/vec"
)

// Outcomes have an entry for each of some actions, about the position after it.
type Outcomes struct {
	Actions []env.Action
	Reward  []float32
	Done    []uint8

	Features []float32 // or:
	Planes   []uint8
	Globals  []float32
}

// A player plays actions on copies of positions. Each worker has one, so that it allocates nothing.
type player struct {
	view   env.State
	after  env.State // the position after one of the actions of a row
	seat   int       // whose action led to it
	alike  int       // index of an earlier one of the same row in which the game goes on too; -1 for none
	legal  []env.Action
	reader features.Reader
}

// A describer says of afterstates what was asked for.
type describer struct {
	b   *Batch
	set *features.Set // nil for observations

	features, planes, globals int // entries of each afterstate
	players                   []player
}

// describer returns one for features, or without have for observations. Only one at a time may be used.
func (b *Batch) describer(have *features.Set) *describer {
	if b.players == nil {
		for range b.Config.Workers {
			b.players = append(b.players, player{view: b.Game.New(b.Config.Seats),
				after: b.Game.New(b.Config.Seats), legal: make([]env.Action, 0, b.Game.MaxLegal)})
		}
	}
	d := &describer{b: b, set: have, players: b.players}
	d.features, d.planes, d.globals = widths(b.Game, have)
	for k := range d.players {
		if have != nil && d.players[k].reader == nil {
			d.players[k].reader = have.New()
		}
	}
	return d
}

// widths returns the entries of each afterstate in the slices of Outcomes.
func widths(g *env.Game, have *features.Set) (features, planes, globals int) {
	if have != nil {
		return len(have.Names), 0, 0
	}
	return 0, g.Planes.Len(), g.Globals()
}

// row plays actions of row r of game i, legal ones, on copies of the position, and writes their entries of o, which are
// zeros before, from the first on. All of them get the same random draws, so that differences between them are due to
// the actions. The draws depend on the number of the game, not on the other games of the request.
func (d *describer) row(worker, i, r int, seed uint64, o *Outcomes, first int, actions []env.Action) {
	b, p := d.b, &d.players[worker]
	now := b.Env.State(i)
	if b.idle(i, r) {
		if now.Acting() == 0 {
			o.Done[first] = 1
		}
		if seat := b.Env.Shows(i, r); d.set == nil && seat != vec.NoSeat {
			d.observe(now, seat, o, first)
		}
		return
	}
	p.seat, p.alike = b.Env.Seat(i, r), -1
	env.View(p.view, now, p.seat, env.Derive(seed, (b.First+uint64(i))*uint64(b.Env.Rows())+uint64(r)))
	before := float32(b.Config.Reward.Measure(p.view, p.seat))
	for k, a := range actions {
		m := first + k
		p.after.CopyFrom(p.view)
		env.After(p.after, p.seat, a)
		o.Reward[m] = float32(b.Config.Reward.Measure(p.after, p.seat)) - before
		over := p.after.Acting() == 0
		if over {
			o.Done[m] = 1
		}
		switch {
		case d.set == nil:
			d.observe(p.after, p.seat, o, m)
		case !over: // features of a finished game remain zeros
			d.read(p, o.Features, m)
			p.alike = m
		}
	}
}

// observe writes what seat observes in s as entry m.
func (d *describer) observe(s env.State, seat int, o *Outcomes, m int) {
	s.Observe(seat, o.Planes[m*d.planes:(m+1)*d.planes], o.Globals[m*d.globals:(m+1)*d.globals])
}

// read writes the features of p.after as entry m.
func (d *describer) read(p *player, out []float32, m int) {
	n, own := d.features, d.set.Own
	row := out[m*n : (m+1)*n]
	if p.alike >= 0 {
		copy(row[own:], out[p.alike*n+own:(p.alike+1)*n])
	} else {
		p.reader.Shared(p.after, p.seat, row[own:])
	}
	p.reader.Own(p.after, p.seat, row[:own])
}
