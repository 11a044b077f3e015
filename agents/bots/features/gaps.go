package features

import "math/bits"

// Gaps says how many cells rows lack: row y lacks the number whose binary digits are bit y of the four.
type Gaps [4]uint32

// Of returns how many cells row y lacks.
func (g *Gaps) Of(y uint) int32 {
	return int32(g[0]>>y&1 | g[1]>>y&1<<1 | g[2]>>y&1<<2 | g[3]>>y&1<<3)
}

// Lacking returns the rows that lack one cell, two and so on, and last those that lack six or more.
func (g *Gaps) Lacking() [6]uint32 {
	n0, n1, n2, few := g[0], g[1], g[2], ^g[3]
	return [6]uint32{
		n0 &^ n1 &^ n2 & few, n1 &^ n0 &^ n2 & few, n0 & n1 &^ n2 & few, n2 &^ n0 &^ n1 & few, n2 & n0 &^ n1 & few,
		g[3] | n2&n1,
	}
}

// Sum returns how many cells the rows lack together.
func (g *Gaps) Sum(rows uint32) int32 {
	return Ones(g[0]&rows) + 2*Ones(g[1]&rows) + 4*Ones(g[2]&rows) + 8*Ones(g[3]&rows)
}

// Over returns Sum of one row or more, and the least that one of them lacks.
func (g *Gaps) Over(rows uint32) (sum, least int32) {
	sum = g.Sum(rows)
	for k := len(g) - 1; k >= 0; k-- { // those whose first digits are least
		if less := rows &^ g[k]; less != 0 {
			rows = less
		} else {
			least |= 1 << uint(k)
		}
	}
	return sum, least
}

// Ones returns how many rows there are.
func Ones(rows uint32) int32 { return int32(bits.OnesCount32(rows)) }
