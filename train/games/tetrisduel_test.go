package games

import (
	"testing"

	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"

	"github.com/stretchr/testify/require"
)

// duels are damaged positions of all sorts.
func duels(t *testing.T, n int, each func(s *tetrisduel.State)) {
	t.Helper()
	var r env.Rand
	r.Seed(21)
	s := &tetrisduel.State{}
	for range n {
		s.Reset(r.Next())
		TetrisDuel.Damage(s, &r)
		each(s)
	}
}

func TestDuelDamageLeavesGoodPositions(t *testing.T) {
	movers, late := [2]int{}, 0
	duels(t, 1000, func(s *tetrisduel.State) {
		require.NoError(t, s.Check())
		require.NotZero(t, s.Acting())
		require.Zero(t, s.Cells.Full(tetrisduel.Width))
		require.False(t, s.Flag && s.Mover() == 0)
		movers[s.Mover()]++
		if s.Turn > 500 {
			late++
		}
	})
	require.Greater(t, movers[0], 300)
	require.Greater(t, movers[1], 300)
	require.Greater(t, late, 30)
}

// The features of a mirrored position are the mirrored features.
func TestDuelMirror(t *testing.T) {
	kinds := [tetrisduel.Kinds]uint8{0, 2, 1, 3, 6, 5, 4}
	duels(t, 300, func(s *tetrisduel.State) {
		row, want := make([]float32, tetrisduelbot.Len), make([]float32, tetrisduelbot.Len)
		fill(TetrisDuel, s, 1-s.Mover(), row)
		m := *s
		var blocks []uint8
		for i := range tetrisduel.HalfTurns {
			blocks = append(blocks, kinds[s.Block(i+1)])
		}
		draws, ok := tetrisduel.Draws(blocks)
		require.True(t, ok)
		copy(m.Deal[:], draws)
		for x := range tetrisduel.Width {
			m.Cells[x] = s.Cells[tetrisduel.Width-1-x]
		}
		fill(TetrisDuel, &m, 1-m.Mover(), want)
		TetrisDuel.Mirror(row)
		for i, name := range TetrisDuel.Features {
			require.Equal(t, want[i], row[i], name)
		}
	})
}
