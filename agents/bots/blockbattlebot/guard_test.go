package blockbattlebot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// The guard calls a placement risky exactly if the seat does not survive the opponent's strongest attack after it. That
// it looks at high stacks only makes no difference. It allocates nothing.
func TestGuard(t *testing.T) {
	g, greedy := NewGuard(), search.NewGreedy(blockbattle.Game, NewHand())
	risky, safe := 0, 0
	for seed := range uint64(6) {
		s := blockbattle.Game.New(2).(*blockbattle.State)
		s.Reset(seed)
		for s.Acting() != 0 {
			if children := toybot.After(blockbattle.Game, s, 0); len(children) > 0 {
				out := make([]bool, len(children))
				g.Risky(s, 0, children, out)
				threat := s.Threat(1, s.Legal(1, nil))
				for i, c := range children {
					require.Equal(t, threat > 0 && !c.(*blockbattle.State).Survives(0, threat), out[i], "round %d", s.Round)
					if out[i] {
						risky++
					} else {
						safe++
					}
				}
				require.Zero(t, testing.AllocsPerRun(4, func() { g.Risky(s, 0, children, out) }))
			}
			m := env.NoMoves
			for seat := range 2 {
				var err error
				m[seat], err = greedy.Act(t.Context(), s, seat)
				require.NoError(t, err)
			}
			s.Step(m)
		}
	}
	require.Greater(t, risky, 20)
	require.Greater(t, safe, 1000)
}
