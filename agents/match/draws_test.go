package match

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

// Whatever is played in a position, and whether or not garbage falls, the next piece is the same; another seed or
// another step has others. Garbage has the same holes, whoever sends it.
func TestDrawsShareThePieces(t *testing.T) {
	g := blockbattle.Game
	from, s := g.New(2).(*blockbattle.State), g.New(2)
	for i := range from.Sides { // a row that lacks one cell, and points that a cleared row makes garbage of
		d := &from.Sides[i]
		for x := 1; x < blockbattle.Width; x++ {
			d.Cells.Set(x, blockbattle.Height-1)
		}
		d.Points, d.Combo = 2, 1
	}
	from.Round, from.Piece = 2, 0
	require.NoError(t, from.Check())
	d, pieces, holes := Draws{}, map[uint8]bool{}, map[uint16]bool{}
	for step := range 30 {
		d.Seed = uint64(step / 10)
		lengths := map[int]bool{}
		for _, a := range from.Legal(0, nil) {
			for seat := range 2 {
				s.CopyFrom(from)
				m := env.Moves{env.Action(0), env.Action(0), env.None, env.None}
				m[1-seat], m[seat] = from.Legal(1, nil)[8], a
				d.Step(g, s, m, step)
				draws := s.Draws(nil)
				lengths[len(draws)] = true
				require.Equal(t, uint8(d.Last(step)%blockbattle.Pieces), s.(*blockbattle.State).Next)
				if len(draws) > 1 {
					holes[uint16(step)<<8|draws[0]] = true
				}
			}
		}
		require.Contains(t, lengths, 1)
		require.Greater(t, len(lengths), 1, "no action sends garbage")
		pieces[s.(*blockbattle.State).Next] = true
	}
	require.Len(t, pieces, blockbattle.Pieces)
	require.Len(t, holes, 30)
}
