// Package blockingbot plays Blocking (package env/blocking): the features of a position,
// evaluators, and the protocol of the contest. "Rules §n" in comments is section n of
// env/blocking/RULES.md.
package blockingbot

import (
	"blockyard/env"
	"blockyard/env/blocking"
)

// steps is how far the floods go from a side's connected cells.
const steps = 5

// A side is what one seat can do with the board. What it may not do any more counts as
// nothing: a seat that is stuck or eliminated has no connected cells.
type side struct {
	allowed   blocking.Board            // free cells that touch none of its own by a side
	connected blocking.Board            // those of them where a piece can join
	reach     [steps + 1]blocking.Board // allowed cells within so many steps by sides of connected ones
	cover     blocking.Board            // cells that some legal placement covers
	playable  uint32                    // letters that have a legal placement
	places    int                       // legal placements
}

// An analysis is what each seat of one position can do. It belongs to one evaluator.
type analysis struct {
	sides [env.MaxSeats]side

	// Most placements are far from where the other seats can place, so that what these can do is found in many
	// positions of a search. It is kept by what it follows from.
	kept  [kept]fits
	table *blocking.Table // they are of
}

// fits is where a seat's pieces fit.
type fits struct {
	near, connected blocking.Board // the cells that pieces may cover, and those that they must
	may             uint32         // the letters of the pieces

	blocking.Survey
}

// kept is how many fits an analysis keeps.
const kept = 256

// flood measures a seat's cells, without looking at its pieces.
func (m *analysis) flood(s *blocking.State, seat int) { m.spread(s, seat, steps) }

// spread is flood for no more than so many steps.
func (m *analysis) spread(s *blocking.State, seat, steps int) {
	d := &m.sides[seat]
	d.allowed, d.connected = s.Open(seat)
	if (s.Out|s.Stuck)>>uint(seat)&1 != 0 {
		d.connected = blocking.Board{}
	}
	d.reach[0] = d.connected
	for k := 1; k <= steps; k++ {
		near := d.reach[k-1].Sides()
		near.And(&d.allowed)
		near.Or(&d.reach[k-1])
		d.reach[k] = near
	}
}

// place finds where a seat's pieces fit; flood comes first.
func (m *analysis) place(s *blocking.State, seat int) {
	d := &m.sides[seat]
	d.playable, d.places, d.cover = 0, 0, blocking.Board{}
	if d.connected.Empty() {
		return
	}
	t := s.Table()
	if m.table != t {
		m.kept, m.table = [kept]fits{}, t
	}
	// A piece of five squares that covers a connected cell is within four steps of it.
	near, may := &d.reach[4], s.May(seat)
	f := &m.kept[slot(near, &d.connected, may)]
	if f.may != may || f.near != *near || f.connected != d.connected {
		*f = fits{*near, d.connected, may, t.Survey(near, &d.connected, may)}
	}
	d.playable, d.places, d.cover = f.Letters, f.Places, f.Cover
}

// slot is the place of fits among those kept.
func slot(near, connected *blocking.Board, may uint32) uint {
	h := uint64(may)
	for i := range near {
		h = (h^near[i])*0x9E3779B97F4A7C15 ^ connected[i]
		h = (h ^ h>>29) * 0xBF58476D1CE4E5B9
	}
	return uint(h>>40) % kept
}

// first returns how many cells a seat reaches before all others, and how many as soon as
// the first of them and no later.
func (m *analysis) first(s *blocking.State, seat int) (alone, tied int) {
	var old blocking.Board
	for k := 0; k <= steps; k++ {
		fresh := m.sides[seat].reach[k]
		fresh.Without(&old)
		old = m.sides[seat].reach[k]
		for i := 0; i < int(s.Seats); i++ {
			if i != seat && k > 0 {
				fresh.Without(&m.sides[i].reach[k-1])
			}
		}
		n := fresh.Count()
		for i := 0; i < int(s.Seats); i++ {
			if i != seat {
				fresh.Without(&m.sides[i].reach[k])
			}
		}
		sole := fresh.Count()
		alone += sole
		tied += n - sole
	}
	return alone, tied
}

// safe returns how many of a seat's connected cells nobody else may cover.
func (m *analysis) safe(s *blocking.State, seat int) int {
	b := m.sides[seat].connected
	for i := 0; i < int(s.Seats); i++ {
		if i != seat && (s.Out|s.Stuck)>>uint(i)&1 == 0 {
			b.Without(&m.sides[i].allowed)
		}
	}
	return b.Count()
}

// placer returns who placed last in s, a position that is not over: the seat before the
// one to move among those that still may be asked. Where only one may, it is that one.
func placer(s *blocking.State) int {
	n := int(s.Seats)
	for i := int(s.Turn) + n - 1; ; i-- {
		if (s.Out|s.Stuck)>>uint(i%n)&1 == 0 {
			return i % n
		}
	}
}
