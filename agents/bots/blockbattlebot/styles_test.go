package blockbattlebot

import (
	"context"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// habits are counts over games in which both seats play alike.
type habits struct{ rounds, combo, tspins, quads, stock, height int }

func habitsOf(t *testing.T, e search.Evaluator) (h habits) {
	t.Helper()
	agent := search.NewGreedy(blockbattle.Game, e)
	s := blockbattle.Game.New(2).(*blockbattle.State)
	view := blockbattle.Game.New(2)
	for seed := range uint64(20) {
		s.Reset(seed)
		for !s.Over {
			var lands [2]blockbattle.Landing
			for seat := range lands {
				env.View(view, s, seat, seed)
				lands[seat] = s.Landing(seat, envtest.Must(agent.Act(context.Background(), view, seat)))
			}
			var rep blockbattle.Report
			s.Play(&lands, &rep)
			h.rounds++
			for seat, side := range rep.Sides {
				h.combo += int(s.Sides[seat].Combo)
				h.stock += int(s.Sides[seat].Skips)
				h.height += blockbattle.Height - bits.TrailingZeros64(side.Locked.Any())
				if lands[seat].TSpin && side.Rows > 0 {
					h.tspins++
				}
				if side.Rows == 4 {
					h.quads++
				}
			}
		}
	}
	return h
}

// Every style shows what it is named after more than the tuned evaluator does.
func TestStylesPlayTheirStyle(t *testing.T) {
	share := func(n int, h habits) float64 { return float64(n) / float64(h.rounds) }
	hand := habitsOf(t, NewHand())
	for _, s := range styles {
		h := habitsOf(t, s.New().(search.Evaluator))
		t.Log(s.Name, h, "hand", hand)
		switch s.Name {
		case "combo":
			require.Greater(t, share(h.combo, h), share(hand.combo, hand))
		case "tspin":
			require.Greater(t, share(h.tspins, h), share(hand.tspins, hand))
		case "quad":
			require.Greater(t, share(h.quads, h), share(hand.quads, hand))
		case "skipper":
			require.Less(t, share(h.stock, h), share(hand.stock, hand)*3/4)
		case "digger":
			require.Less(t, share(h.height, h), share(hand.height, hand))
		default:
			t.Errorf("no test of %s", s.Name)
		}
	}
}
