package blockbattlelog

import (
	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// dealt compares the game's pieces and holes with those that its seed generates.
func (g *game) dealt(seed string) {
	s := blockbattle.NewPortStream(seed)
	piece := func() string { return blockbattle.Letters[s.Piece():][:1] }
	g.t.At("game %s, dealt from its seed", id(g.rec.ID))
	conform.Same(g.t, "first piece", g.rec.Rounds[0].Piece, piece())
	for i := range g.rec.Rounds {
		r := &g.rec.Rounds[i]
		g.t.At("game %s, round %d, dealt from its seed", id(g.rec.ID), r.Round)
		conform.Same(g.t, "next", r.Next, piece())
		for seat := range r.P {
			if r.P[seat].Holes == nil {
				continue
			}
			var dealt [][]int
			for _, row := range r.P[seat].Holes {
				draws := s.Row(nil, len(row) == 2)
				holes := []int{int(draws[0])}
				for _, d := range draws[1:] {
					holes = append(holes, (holes[0]+1+int(d))%blockbattle.Width)
				}
				dealt = append(dealt, holes)
			}
			conform.Same(g.t, "holes of "+player(seat), recordedHoles(r.P[seat].Holes), recordedHoles(dealt))
		}
	}
}
