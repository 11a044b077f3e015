package games

import (
	"slices"
	"testing"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/dropblox"
	"blockyard/env/tetrisduel"

	"github.com/stretchr/testify/require"
)

// The mirrored features of a position are the features of the mirrored position, but for a few.
func TestMirror(t *testing.T) {
	for _, c := range []struct {
		game   *Game
		seat   func(s env.State) int
		mirror func(s env.State) env.State
		but    func(name string, row []float32) bool
	}{
		{BlockBattle, first, mirrorBlockBattle, func(name string, row []float32) bool {
			heights := slices.Sorted(slices.Values(row[:blockbattle.Width]))
			return name == "own bumps" && heights[0] == heights[1] // of the lowest columns they pass over the first
		}},
		{TetrisDuel, func(s env.State) int { return 1 - s.(*tetrisduel.State).Mover() }, mirrorDuelState,
			func(string, []float32) bool { return false }},
		{Dropblox, first, mirrorDropblox, func(name string, _ []float32) bool {
			return name == "middle" // blocks appear in one more column on the left of it than on the right
		}},
	} {
		var r env.Rand
		r.Seed(12)
		s := c.game.Rules.New(c.game.Rules.MinSeats)
		for range 100 {
			s.Reset(r.Next())
			c.game.Damage(s, &r)
			m := c.mirror(s)
			row, want := fill(c.game, s, c.seat(s)), fill(c.game, m, c.seat(m))
			c.game.Mirror(row)
			for i, name := range c.game.Features {
				if !c.but(name, row) {
					require.InDelta(t, want[i], row[i], 1e-6, name)
				}
			}
		}
	}
}

func first(env.State) int { return 0 }

func mirrorBlockBattle(s env.State) env.State {
	m := *s.(*blockbattle.State)
	for i := range m.Sides {
		slices.Reverse(m.Sides[i].Cells[:blockbattle.Width])
	}
	return &m
}

func mirrorDuelState(s env.State) env.State {
	m, kinds := *s.(*tetrisduel.State), [tetrisduel.Kinds]uint8{0, 2, 1, 3, 6, 5, 4}
	var blocks []uint8
	for i := range tetrisduel.HalfTurns {
		blocks = append(blocks, kinds[m.Block(i+1)])
	}
	draws, _ := tetrisduel.Draws(blocks)
	copy(m.Deal[:], draws)
	slices.Reverse(m.Cells[:tetrisduel.Width])
	return &m
}

func mirrorDropblox(s env.State) env.State {
	m := *s.(*dropblox.State)
	slices.Reverse(m.Taken[:dropblox.Cols])
	return &m
}

// fill returns all features of s as seat sees it.
func fill(g *Game, s env.State, seat int) []float32 {
	row, r := make([]float32, len(g.Features)), g.Reader()
	r.Shared(s, seat, row[g.Own:])
	r.Own(s, seat, row[:g.Own])
	return row
}
