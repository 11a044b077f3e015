package games

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/wintetris"
)

func TestLitterLeavesGoodPositions(t *testing.T) {
	var r env.Rand
	r.Seed(5)
	s := wintetris.Game.New(1).(*wintetris.State)
	towers, overhangs := 0, 0
	for i := range uint64(400) {
		s.Reset(i)
		WinTetris.Damage(s, &r)
		require.NoError(t, s.Check())
		require.NotZero(t, s.Acting())
		require.Zero(t, s.Score(0))
		h := s.Field.Heights()
		low, high := h[0], h[0]
		for _, v := range h {
			low, high = min(low, v), max(high, v)
		}
		if high-low > 8 {
			towers++
		}
		if s.Field[0] == 0 {
			t.Fatalf("an empty floor after litter %d", i)
		}
		for x, v := range h {
			if v > 4 && !s.Field.At(x, int(v)-2) && !s.Field.At(x, int(v)-3) && !s.Field.At(x, int(v)-4) {
				overhangs++
			}
		}
	}
	require.Greater(t, towers, 80)
	require.Greater(t, overhangs, 80)
}

// The variants of the literature begin in positions of their own, of which none is over.
func TestLitterOfPapers(t *testing.T) {
	var r env.Rand
	r.Seed(6)
	for _, rules := range []*env.Game{wintetris.Paper10Game, wintetris.Paper20Game} {
		g, err := Of(rules)
		require.NoError(t, err)
		require.Same(t, WinTetrisPaper, g)
		s := rules.New(1).(*wintetris.State)
		for i := range uint64(400) {
			s.Reset(i)
			g.Damage(s, &r)
			require.NoError(t, s.Check())
			require.NotZero(t, s.Acting())
			require.Zero(t, s.Score(0))
		}
	}
}
