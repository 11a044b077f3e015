package tetrisduelbot

import (
	"math/bits"

	"blockyard/agents/bots/features"
	"blockyard/env/tetrisduel"
)

const digLen = 30 // how many features say what covers the topmost holes, and how many cells rows lack

// Where the counts of one kind begin among the digLen. Rows with a block are counted by how many cells they lack, those
// that lack six or more together; what shape counts is left out.
const (
	cleanAt      = 7               // clean battle rows that lack five, and more
	foulAt       = cleanAt + 2     // other battle rows that lack three and more
	calmAt       = foulAt + 4      // clean peace rows that lack three and more
	peaceFoulAt  = calmAt + 4      // other peace rows that lack one and more
	runsAt       = peaceFoulAt + 6 // clean battle rows that lack two, three and four cells, side by side
	battleHoleAt = runsAt + 3      // about the topmost battle row with a hole
)

func digUnits(units []float32) []float32 {
	units = append(units, 1./4, 1./10, 1./2, 1./4, 1./10, 1./4, 1)
	for i := cleanAt; i < battleHoleAt; i++ {
		units = append(units, 1./4)
	}
	return append(units, 1./4, 1./10, 1./2, 1./4)
}

// gaps counts the empty cells of each row.
func gaps(e *[3]uint64) features.Gaps {
	// Within lanes first, 0 to 3 each, then over the four of them.
	a, b := e[0]^e[1]^e[2], e[0]&e[1]|(e[0]|e[1])&e[2]
	p, q, r, s := a&reach, a>>lane&reach, a>>(2*lane)&reach, a>>(3*lane)
	x, y := p^q, r^s
	n0, c, d := x^y, p&q, r&s
	c, d = c^d^x&y, c&d // twos, and fours if all four lanes have one
	p, q, r, s = b&reach, b>>lane&reach, b>>(2*lane)&reach, b>>(3*lane)
	x, y = p^q, r^s
	twos := x ^ y
	fours, eights := p&q^r&s^x&y, p&q&(r&s)
	f := twos & c
	twos ^= c
	eights ^= fours & f
	fours ^= f
	eights ^= fours & d
	fours ^= d
	return features.Gaps{uint32(n0), uint32(twos), uint32(fours), uint32(eights)}
}

// digs writes the digLen counts.
func (s *shape) digs(out []int32) {
	out = out[:digLen]
	e, o := &s.empty, &s.sky
	g := gaps(e)
	h := [3]uint64{e[0] &^ o[0], e[1] &^ o[1], e[2] &^ o[2]}
	holed := uint32(fold(h[0] | h[1] | h[2]))
	clean := reach &^ holed &^ (1<<uint(s.minFree&15) - 1) // rows with a block, or below one
	lacking := g.Lacking()
	side, calm, foul, peaceFoul := oneRun(e)&clean&battle, clean&^battle, holed&battle, holed&^battle
	for i, of := range lacking {
		out[peaceFoulAt+i] = features.Ones(of & peaceFoul)
	}
	for i, of := range lacking[2:] {
		out[foulAt+i], out[calmAt+i] = features.Ones(of&foul), features.Ones(of&calm)
	}
	for i, of := range lacking[1:4] {
		out[runsAt+i] = features.Ones(of & side)
	}
	for i, of := range lacking[4:] {
		out[cleanAt+i] = features.Ones(of & clean & battle)
	}
	none, last := out[:cleanAt], out[battleHoleAt:]
	for i := range none {
		none[i] = 0
	}
	none[6] = 1
	for i := range last {
		last[i] = 0
	}
	if holed == 0 {
		return
	}
	c := s.cover(&g, &h, holed)
	none[0], none[1], none[2], none[3] = c.rows, c.gaps, c.holes, c.lacks
	none[4], none[5], none[6] = rows-c.row, c.least, 0
	if holed &= battle; holed != 0 {
		if c.row < tetrisduel.Peace {
			c = s.cover(&g, &h, holed)
		}
		last[0], last[1], last[2], last[3] = c.rows, c.gaps, c.lacks, c.holes
	}
}

// oneRun returns the rows whose empty cells are all side by side.
func oneRun(e *[3]uint64) uint32 {
	// Cells that begin a run: at least one in a row, or two.
	a, b, c := e[0]&^(e[2]<<lane), e[1]&^e[0], e[2]&^e[1]
	k1, k2 := a|b|c, a&b|(a|b)&c
	p, q, r, s := k1&reach, k1>>lane&reach, k1>>(2*lane)&reach, k1>>(3*lane)
	return uint32((p | q | r | s) &^ (p&q | r&s | (p|q)&(r|s)) &^ fold(k2))
}

// A cover is what lies over the holes of a row.
type cover struct {
	row   int32 // of the holes
	holes int32
	lacks int32 // empty cells of the row, holes among them
	rows  int32 // from the topmost cell over a hole on
	gaps  int32 // empty cells of those rows
	least int32 // of one of them
}

// cover looks at the topmost of some rows with holes.
func (s *shape) cover(g *features.Gaps, h *[3]uint64, of uint32) (c cover) {
	top := uint(bits.TrailingZeros32(of)) & 15
	free := ^uint64(0) // rows open in all columns that have a hole in the row
	for i := range h {
		in := h[i] >> top & each
		c.holes += int32(bits.OnesCount64(in))
		free &= s.sky[i] | ^(in * reach)
	}
	free &= free >> (2 * lane)
	free &= free >> lane
	rows := uint32(uint64(1)<<top-1) &^ uint32(free)
	c.row, c.lacks, c.rows = int32(top), g.Of(top), features.Ones(rows)
	c.gaps, c.least = g.Over(rows)
	return c
}
