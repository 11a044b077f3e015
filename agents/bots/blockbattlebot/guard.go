package blockbattlebot

import (
	"math/bits"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Guard calls the placements risky after which a seat would not survive the most garbage that the opponent can send
// with its piece of the same round. It is a search.Guard.
type Guard struct{ legal []env.Action }

// NewGuard returns a Guard.
func NewGuard() *Guard { return new(Guard) }

// Risky implements search.Guard. It lists the opponent's placements only if some stack is high enough to matter.
func (g *Guard) Risky(s env.State, seat int, children []env.State, out []bool) {
	now := s.(*blockbattle.State)
	most := mostGarbage(&now.Sides[1-seat])
	low := true
	for _, c := range children {
		low = low && room(&c.(*blockbattle.State).Sides[seat]) >= most
	}
	if low {
		return
	}
	g.legal = now.Legal(1-seat, g.legal[:0])
	threat := now.Threat(1-seat, g.legal)
	for i, c := range children {
		out[i] = threat > 0 && !c.(*blockbattle.State).Survives(seat, threat)
	}
}

// mostGarbage bounds the rows that a side can send in one round: 18 points for an empty board, otherwise 10 and the
// combo, and the points that it has not turned into rows yet.
func mostGarbage(side *blockbattle.Side) int {
	gain := 10 + int(side.Combo)
	if gain < 18 {
		gain = 18
	}
	return (gain + blockbattle.PerGarbage - 1) / blockbattle.PerGarbage
}

// room is how many garbage rows a side certainly survives: the free rows at the top, less the two in which pieces
// appear.
func room(side *blockbattle.Side) int {
	free := blockbattle.Height - int(side.Solid)
	if n := bits.TrailingZeros64(side.Cells.Any()); n < free {
		free = n
	}
	return free - 2
}
