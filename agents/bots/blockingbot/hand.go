// Package blockingbot plays Blocking (package env/blocking): the features of a position, evaluators, and the protocol
// of the contest. "Rules §n" in comments is section n of env/blocking/RULES.md.
package blockingbot

import (
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
)

// A Term is a property of one seat's position to which Hand gives a weight, as an index of Weights.
type Term int

const (
	Squares Term = iota // laid
	Corners             // connected cells
	Safe                // of those, the ones nobody else may cover
	Allowed             // free cells that touch none of its own by a side
	Reach1              // allowed cells within a step of a connected one
	Reach2              // within two
	Reach4              // within four
	First               // cells reached before all others
	Terms               // how many there are
)

// TermNames are the names of the terms in files of weights and tables, in the order of the constants.
var TermNames = [Terms]string{"squares", "corners", "safe", "allowed", "reach1", "reach2", "reach4", "first"}

// Weights are what one unit of each term is worth, in the units of Hand.
type Weights [Terms]float32

// A Hand is an agents/search.Evaluator: what a seat has by terms and weights, less what the others have: half the best
// of them and half their mean, which with two seats is one seat's gain and the other's loss. It belongs to one agent.
type Hand struct {
	Weights Weights
	m       analysis
}

// NewHand returns a Hand with the weights Tuned.
func NewHand() *Hand { return &Hand{Weights: Tuned} }

// Evaluate implements search.Evaluator: a seat's terms less those of the others.
func (h *Hand) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		out[i] = h.worth(s.(*blocking.State), seat)
	}
}

func (h *Hand) worth(s *blocking.State, seat int) float32 {
	n := int(s.Seats)
	far := 4 // the terms look no further, but for the last
	if h.Weights[First] != 0 {
		far = steps
	}
	for i := 0; i < n; i++ {
		h.m.spread(s, i, far)
	}
	var own, best, sum float32
	var t [Terms]float32
	for i, first := 0, true; i < n; i++ {
		h.m.terms(s, i, &h.Weights, &t)
		v := float32(0)
		for k := range t { // rounded one by one: no machine may fuse them
			v += float32(t[k] * h.Weights[k])
		}
		if i == seat {
			own = v
			continue
		}
		if sum += v; first || v > best {
			best, first = v, false
		}
	}
	return search.Clamp(own - best/2 - sum/float32(2*(n-1)))
}

// terms sets a seat's terms; flood has looked at all seats. Two that take long are 0 if they weigh nothing.
func (m *analysis) terms(s *blocking.State, seat int, w *Weights, t *[Terms]float32) {
	d := &m.sides[seat]
	t[Squares] = float32(s.Points[seat])
	t[Corners] = float32(d.connected.Count())
	if t[Safe] = 0; w[Safe] != 0 {
		t[Safe] = float32(m.safe(s, seat))
	}
	t[Allowed] = float32(d.allowed.Count())
	t[Reach1] = float32(d.reach[1].Count())
	t[Reach2] = float32(d.reach[2].Count())
	t[Reach4] = float32(d.reach[4].Count())
	if t[First] = 0; w[First] != 0 {
		alone, _ := m.first(s, seat)
		t[First] = float32(alone)
	}
}

// Greedy is a search.Evaluator that counts squares on the board first: with a search of one ply
// it places the largest pieces first. Among equals it prefers many placements for its next turn
// and few for the others. It serves as an opponent to measure other agents by.
type Greedy struct{ m analysis }

const large = 4096 // more than any number of placements

// Evaluate implements search.Evaluator. One square counts more than any number of placements.
func (g *Greedy) Evaluate(states []env.State, seat int, out []float32) {
	for i := range states {
		s := states[i].(*blocking.State)
		worth := large * int(s.Points[seat])
		others := 0
		for k := 0; k < int(s.Seats); k++ {
			g.m.flood(s, k)
			g.m.place(s, k)
			if k == seat {
				worth += g.m.sides[k].places
			} else {
				others += g.m.sides[k].places
			}
		}
		out[i] = float32(worth) - float32(others)/float32(int(s.Seats)-1)
	}
}

// Tuned are the weights Hand plays with: the best of some thirty tried one choice deep.
var Tuned = Weights{Squares: 1, Corners: 0.5, Allowed: 0.2, Reach4: 0.15}

const (
	steps     = 5 // how far the floods by sides go from a side's connected cells
	wideSteps = 8 // how far those by sides and corners are told apart
)

// A side is what one seat can do; a seat that is stuck or eliminated has no connected cells.
type side struct {
	allowed   blocking.Board                // free cells that touch none of its own by a side
	connected blocking.Board                // those of them where a piece can join
	reach     [steps + 1]blocking.Board     // allowed cells within so many steps by sides of connected ones
	wide      [wideSteps + 1]blocking.Board // the same within so many steps by sides and corners, as pieces follow pieces
	ever      blocking.Board                // within any number of them: all cells that it may cover some day
	cover     blocking.Board                // cells that some legal placement covers
	playable  uint32                        // letters that have a legal placement
	places    int                           // legal placements
	of        [blocking.Letters]uint16      // of them, those of each letter
}

// An analysis is what each seat of one position can do. It belongs to one evaluator.
type analysis struct {
	sides [env.MaxSeats]side

	// Kept by what it follows from: most placements are far from where the other seats can place.
	kept  [kept]fits
	table *blocking.Table // they are of
}

// fits are the placements that a seat has left, kept with what they follow from.
type fits struct {
	near, connected blocking.Board // the cells that pieces may cover, and those that they must
	may             uint32         // the letters of the pieces

	blocking.Survey
}

const kept = 256 // how many fits an analysis keeps

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
		d.reach[k].Grow(&d.reach[k-1], &d.allowed)
	}
}

// place finds where a seat's pieces fit; flood comes first.
func (m *analysis) place(s *blocking.State, seat int) {
	d := &m.sides[seat]
	d.playable, d.places, d.of, d.cover = 0, 0, [blocking.Letters]uint16{}, blocking.Board{}
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
	d.playable, d.places, d.of, d.cover = f.Letters, f.Places, f.Of, f.Cover
}

// widen floods a seat's allowed cells by sides and corners; flood comes first.
func (m *analysis) widen(seat int) {
	d := &m.sides[seat]
	d.wide[0], d.ever = d.connected, d.connected
	for k := 1; ; k++ {
		next := d.ever.Around()
		next.And(&d.allowed)
		if k <= wideSteps {
			d.wide[k] = next
		} else if next == d.ever {
			return
		}
		d.ever = next
	}
}

// beyond returns the letters that a seat can place without a cell of not; place comes first.
func (m *analysis) beyond(s *blocking.State, seat int, not *blocking.Board) uint32 {
	d := &m.sides[seat]
	allowed, connected := d.cover, d.connected
	allowed.Without(not)
	connected.Without(not)
	if connected.Empty() {
		return 0
	}
	return s.Table().Placeable(&allowed, &connected, d.playable)
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

// first returns how many cells a seat reaches before all others by sides, and how many at the same step as the first of
// them.
func (m *analysis) first(s *blocking.State, seat int) (alone, tied int) {
	var others [env.MaxSeats][]blocking.Board
	n := 0
	for i := 0; i < int(s.Seats); i++ {
		if i != seat {
			others[n] = m.sides[i].reach[:]
			n++
		}
	}
	return race(m.sides[seat].reach[:], others[:n])
}

// race returns how many cells one side has at an earlier step than each of the others, and how many at the same step as
// the first of them.
func race(own []blocking.Board, others [][]blocking.Board) (alone, tied int) {
	var old blocking.Board
	for k := range own {
		fresh := own[k]
		fresh.Without(&old)
		old = own[k]
		for _, o := range others {
			if k > 0 {
				fresh.Without(&o[k-1])
			}
		}
		n := fresh.Count()
		for _, o := range others {
			fresh.Without(&o[k])
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

// placer returns who placed last in s, which is not over: the seat before the mover of those that may be asked.
func placer(s *blocking.State) int {
	n := int(s.Seats)
	for i := int(s.Turn) + n - 1; ; i-- {
		if (s.Out|s.Stuck)>>uint(i%n)&1 == 0 {
			return i % n
		}
	}
}
