package blockbattlebot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// The guard calls a placement of either seat risky exactly if the seat does not survive the opponent's strongest attack
// after it. That it looks at high stacks only makes no difference. It allocates nothing.
func TestGuard(t *testing.T) {
	g, players := NewGuard(), [2]env.Agent{}
	for seat, w := range []Weights{Tuned, {Holes: -3, Peak: -1}} {
		players[seat] = search.NewGreedy(blockbattle.Game, &Hand{Weights: w})
	}
	found := [2]map[bool]int{{}, {}} // how many placements of a seat were risky, and how many were not
	for seed := range uint64(40) {
		s := envtest.Start[*blockbattle.State](blockbattle.Game, 2, seed)
		for seat := 0; s.Acting() != 0; seat = 1 - seat {
			s.Sides[1-seat].Combo = max(s.Sides[1-seat].Combo, int32(seed)) // a threat of more than an empty board
			if children := toybot.After(blockbattle.Game, s, seat); len(children) > 0 {
				out := make([]bool, len(children))
				g.Risky(s, seat, children, out)
				threat := s.Threat(1-seat, s.Legal(1-seat, nil))
				for i, c := range children {
					require.Equal(t, threat > 0 && !c.(*blockbattle.State).Survives(seat, threat), out[i], "round %d", s.Round)
					found[seat][out[i]]++
				}
				require.Zero(t, testing.AllocsPerRun(4, func() { g.Risky(s, seat, children, out) }))
			}
			m := env.NoMoves
			for k, p := range players {
				m[k] = envtest.Must(p.Act(t.Context(), s, k))
			}
			s.Step(m)
		}
	}
	for _, n := range found {
		require.Greater(t, n[true], 10)
		require.Greater(t, n[false], 500)
	}
}
