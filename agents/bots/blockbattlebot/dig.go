package blockbattlebot

import (
	"math/bits"

	"blockyard/agents/bots/features"
)

// digLen is how many features say what covers the holes and how many cells rows lack.
const digLen = 37

// Where the counts of one kind begin among the digLen: rows without holes and with holes, by how many cells they lack;
// rows without holes that lack 2, 3 or 4 cells, side by side and not; what later writes.
const (
	wholeAt = 8
	holedAt = wholeAt + 6
	runsAt  = holedAt + 6
	splitAt = runsAt + 3
	laterAt = splitAt + 3
)

func digUnits(units []float32) []float32 {
	units = append(units, 1./4, 1./10, 1./2, 1./4, 1./10, 1./4, 1, 1./4)
	for i := wholeAt; i < laterAt; i++ {
		units = append(units, 1./4)
	}
	return append(units, 1./4, 1./10, 1./20, 1./4, 1./10, 1./4, 1./4, 1./2, 1./2, 1./2, 1./4)
}

// gapRows says which rows lack how many cells, and of which rows the missing cells are not all side by side.
type gapRows struct {
	features.Gaps
	many uint32
}

// read sets g from the empty cells, as lanes gives a board.
func (g *gapRows) read(e0, e1, e2, e3 uint64) {
	const m = 1<<lane - 1
	// Within lanes first, 0 to 4 each, then over them.
	x, y, u, v := e0^e1, e0&e1, e2^e3, e2&e3
	a0, a1, a2 := x^u, y^v^x&u, y&v
	p, q, r := a0&m, a0>>lane&m, a0>>(2*lane)
	n0, c := p^q^r, p&q|(p|q)&r
	p, q, r = a1&m, a1>>lane&m, a1>>(2*lane)
	n1, d := p^q^r, p&q|(p|q)&r
	n1, c = n1^c, n1&c
	p, q = a2&m, a2>>lane&m // lane 2 has two columns
	n2, n3 := p^q^c^d, p&q|c&d|(p|q)&(c|d)
	g.Gaps = features.Gaps{uint32(n0), uint32(n1), uint32(n2), uint32(n3)}
	// Cells that begin a run of missing ones: at least one in a row, or two.
	e0, e1, e2, e3 = e0&^(e3<<lane), e1&^e0, e2&^e1, e3&^e2
	k1, k2 := e0|e1, e0&e1
	k1, k2 = k1|e2, k2|k1&e2
	k1, k2 = k1|e3, k2|k1&e3
	p, q, r = k1&m, k1>>lane&m, k1>>(2*lane)
	g.many = uint32((k2|k2>>lane|k2>>(2*lane))&m | p&q | (p|q)&r)
}

// digs writes the digLen counts of a board without full rows.
func (s *shape) digs(out []int32) {
	out = out[:digLen]
	rows := uint64(1)<<uint(s.floor) - uint64(1)<<uint(s.minFree) // those with a block, and those below
	all := rows * each
	e0, e1, e2, e3 := all&^s.words[0], all&^s.words[1], all&^s.words[2], all&^s.words[3]
	var g gapRows
	g.read(e0, e1, e2, e3)
	h := [4]uint64{e0 &^ s.open[0], e1 &^ s.open[1], e2 &^ s.open[2], e3 &^ s.open[3]}
	holed := uint32(fold(h[0] | h[1] | h[2] | h[3]))
	whole := uint32(rows) &^ holed

	lack := g.Lacking()
	for i, rows := range lack {
		out[wholeAt+i], out[holedAt+i] = features.Ones(rows&whole), features.Ones(rows&holed)
	}
	for i := 0; i < 3; i++ {
		split := features.Ones(lack[i+1] & whole & g.many)
		out[runsAt+i], out[splitAt+i] = out[wholeAt+1+i]-split, split
	}
	out[7] = g.Of(uint(s.floor-1) & 31)
	if rows == 0 && s.floor > 0 {
		out[7] = columns
	}
	for i := range out[:wholeAt-1] {
		out[i] = 0
	}
	for i := range out[laterAt:] {
		out[laterAt+i] = 0
	}
	if out[6] = 1; holed != 0 {
		d := dig{words: s.words, open: s.open, holes: h, all: all, guard: 1 << uint(s.floor) * each, holed: holed}
		out[4], out[6] = int32(s.floor)-int32(d.top()), 0
		d.counts(&g.Gaps, &lack, out)
	}
}

// A dig opens the holes of a board from the top: the rows that cover the topmost row with a hole are cleared, until no
// row has a hole. A cleared row stays where it was, as one that is open in all columns that are open above it.
type dig struct {
	words, open, holes [4]uint64
	all, guard         uint64 // the rows with a block and those below, and the floor, in all lanes
	holed, cleared     uint32 // rows with a hole, and those cleared
}

// counts writes the counts about a board with holes, but one.
func (d *dig) counts(g *features.Gaps, lack *[6]uint32, out []int32) {
	top, first, holed := d.top(), d.cover(), d.holed
	out[0], out[3] = features.Ones(first), g.Of(top)
	out[1], out[5] = g.Over(first)
	later := out[laterAt:]
	for i, holes := range d.holes {
		out[2] += int32(bits.OnesCount64(holes >> top & each))
		later[10] += lanesTaken((d.open[i] | holes) & (uint64(first) * each))
	}
	for i, rows := range lack[:3] {
		later[7+i] = features.Ones(first & rows)
	}
	d.clear(first)
	later[0], later[6] = 1, features.Ones(holed)-features.Ones(d.holed)
	for ; d.holed != 0; later[0]++ {
		rows := d.cover()
		if later[0] == 1 { // the second dig
			later[3] = features.Ones(rows)
			later[4], later[5] = g.Over(rows)
		}
		d.clear(rows)
	}
	later[1], later[2] = features.Ones(d.cleared), g.Sum(d.cleared)
}

// top is the topmost row with a hole, of which there must be one.
func (d *dig) top() uint { return uint(bits.TrailingZeros32(d.holed)) & 31 }

// cover returns the rows that are taken somewhere above a hole of the topmost row with one.
func (d *dig) cover() uint32 {
	top := d.top()
	free := uint64(1<<(3*lane) - 1) // open in all columns that have a hole there
	for i := range d.holes {
		free &= d.open[i] | ^(d.holes[i] >> top & each * (1<<lane - 1))
	}
	return (uint32(1)<<top - 1) &^ uint32(free&(free>>lane)&(free>>(2*lane))) &^ d.cleared
}

// clear clears some rows.
func (d *dig) clear(rows uint32) {
	d.cleared |= rows
	holed := uint64(0)
	for i := range d.words {
		w := d.words[i] &^ (uint64(rows) * each)
		o := open(w, d.guard)
		d.words[i], d.open[i], d.holes[i] = w, o, d.all&^w&^o
		holed |= d.holes[i]
	}
	d.holed = uint32(fold(holed)) &^ d.cleared
}

// lanesTaken returns how many lanes have a cell.
func lanesTaken(w uint64) int32 {
	const m = 1<<lane - 1
	return features.Yes(w&m != 0) + features.Yes(w>>lane&m != 0) + features.Yes(w>>(2*lane) != 0)
}
