package blockbattlebot

import (
	"math/bits"

	"blockyard/agents/bots/features"
)

const digLen = 26 // how many features say how much covers the topmost hole, and how many cells rows lack

// Where the counts of one kind begin among the digLen: rows without holes and with holes, by how many cells they lack;
// rows without holes that lack 2, 3 or 4 cells, side by side and not.
const (
	wholeAt = 8
	holedAt = wholeAt + 6
	runsAt  = holedAt + 6
	splitAt = runsAt + 3
)

func digUnits(units []float32) []float32 {
	units = append(units, 1./4, 1./10, 1./2, 1./4, 1./10, 1./4, 1, 1./4)
	for i := wholeAt; i < digLen; i++ {
		units = append(units, 1./4)
	}
	return units
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
	out[0], out[1], out[2], out[3], out[4], out[5], out[6] = 0, 0, 0, 0, 0, 0, 1
	if holed != 0 {
		s.cover(&g, &h, uint(bits.TrailingZeros32(holed))&31, out)
	}
}

// cover writes the counts about the topmost row with a hole and the rows that cover it.
func (s *shape) cover(g *gapRows, h *[4]uint64, top uint, out []int32) {
	const m = 1<<lane - 1
	free, cells := uint64(1<<(3*lane)-1), int32(0) // rows open in all columns that have a hole there
	for i := range h {
		in := h[i] >> top & each
		cells += int32(bits.OnesCount64(in))
		free &= s.open[i] | ^(in * m)
	}
	free &= free >> lane & (free >> (2 * lane)) & m
	rows := (uint32(1)<<top - 1) &^ uint32(free)
	out[0] = features.Ones(rows)
	out[1], out[5] = g.Over(rows)
	out[2], out[3], out[4], out[6] = cells, g.Of(top), int32(s.floor)-int32(top), 0
}
