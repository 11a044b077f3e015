package games

import (
	"slices"
	"testing"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/env"
	"blockyard/env/blockbattle"

	"github.com/stretchr/testify/require"
)

func TestDamageLeavesGoodPositions(t *testing.T) {
	var r env.Rand
	r.Seed(11)
	s := BlockBattle.Rules.New(2)
	solid := map[uint8]bool{}
	for range 3000 {
		s.Reset(r.Next())
		BlockBattle.Damage(s, &r)
		require.NoError(t, s.Check())
		require.NotZero(t, s.Acting())
		b := s.(*blockbattle.State)
		solid[b.Sides[0].Solid] = true
		require.EqualValues(t, b.Sides[0].Solid, (b.Round-1)/blockbattle.SolidInterval)
		for _, d := range b.Sides {
			require.Zero(t, d.Cells.Full(blockbattle.Width), "a full row")
		}
	}
	require.Len(t, solid, 10)
}

// The features of a mirrored position are the mirrored features; but for the bumps where
// several columns are the lowest, of which they pass over the first.
func TestMirror(t *testing.T) {
	var r env.Rand
	r.Seed(12)
	s := BlockBattle.Rules.New(2)
	for range 500 {
		s.Reset(r.Next())
		BlockBattle.Damage(s, &r)
		b := s.(*blockbattle.State)
		row, want := make([]float32, blockbattlebot.Len), make([]float32, blockbattlebot.Len)
		fill(BlockBattle, b, 0, row)
		m := *b
		for i := range m.Sides {
			for x := range blockbattle.Width {
				m.Sides[i].Cells[x] = b.Sides[i].Cells[blockbattle.Width-1-x]
			}
		}
		fill(BlockBattle, &m, 0, want)
		BlockBattle.Mirror(row)
		lowest, count := slices.Min(row[:blockbattle.Width]), 0
		for _, h := range row[:blockbattle.Width] {
			if h == lowest {
				count++
			}
		}
		for i, name := range BlockBattle.Features {
			if name == "own bumps" && count > 1 {
				continue
			}
			require.Equal(t, want[i], row[i], name)
		}
	}
}

// fill writes all features of s as seat sees it.
func fill(g *Game, s env.State, seat int, row []float32) {
	r := g.Reader()
	r.Shared(s, seat, row[g.Own:])
	r.Own(s, seat, row[:g.Own])
}
