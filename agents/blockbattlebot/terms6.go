package blockbattlebot

import (
	"math/bits"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

// Terms6 is a search.Evaluator made of the six terms of WinTetris's demo solver. It serves as
// an opponent to measure other agents by. The original rates a placement; here the same terms
// rate the board it leads to, so that the sum over a line of placements differs from the
// original's sum by what is the same for all lines:
//
//	holes made    empty cells right below a taken one, -500 each
//	slots filled  worth nothing, as given
//	rows          10 cells less than placed, +500 each
//	top, bottom   -150 and -75 a row of a piece's highest and lowest cell: together
//	              -225 a row of its middle, a quarter of that for each of its cells
//	chasms        empty cells between two taken ones, walls not counting, -400 each
//
// It knows nothing of points, combos, garbage or the opponent.
type Terms6 struct{}

// Evaluate implements search.Evaluator.
func (Terms6) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		out[i] = terms6(&s.(*blockbattle.State).Sides[seat])
	}
}

func terms6(side *blockbattle.Side) float32 {
	floor := uint(blockbattle.Height) - uint(side.Solid)
	rows := uint64(1)<<floor - 1
	holes, chasms, cells, height := 0, 0, 0, 0
	for x := 0; x < blockbattle.Width; x++ {
		c := side.Cells[x] & rows
		holes += bits.OnesCount64(c << 1 & rows &^ c)
		if x > 0 && x < blockbattle.Width-1 {
			chasms += bits.OnesCount64(side.Cells[x-1] & side.Cells[x+1] & rows &^ c)
		}
		for ; c != 0; c &= c - 1 {
			cells++
			height += int(floor) - bits.TrailingZeros64(c) // 1 in the lowest row
		}
	}
	return float32(-500*holes-400*chasms-500/10*cells) - 225./4*float32(height)
}
