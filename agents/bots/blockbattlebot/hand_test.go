package blockbattlebot

import (
	"context"
	"math/bits"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// The worth of a position is the sum of its terms, each times its weight, within the limit.
func TestHandIsTheSumOfItsTerms(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	h, out, seen := NewHand(), make([]float32, 1), [Terms]bool{}
	for i := range 10_000 {
		s, seat := roundStart(r), r.Intn(2)
		own, opponent := &s.Sides[seat], &s.Sides[1-seat]
		opponent.Pending = uint8(r.Intn(6))
		h.Evaluate([]env.State{s}, seat, out)
		theirs := slowShape(&opponent.Cells, int(opponent.Solid))
		want := slowTerms(&own.Cells, int(own.Solid), slowThreat(&theirs, opponent)+3)
		sent, room := int32(opponent.Pending), int32(theirs.minFree)
		want[Points], want[Combo], want[Skips], want[Sent] = own.Points, own.Combo, min(own.Skips, 4), sent
		want[Pressed], want[Buried] = sent*max(10-room, 0), int32(yes(sent > room))
		sum := float32(0)
		for term, v := range want {
			require.Equal(t, v, h.terms[term][0], "seed %d, position %d: %s", *seed, i, TermNames[term])
			sum += float32(v) * Tuned[term]
			seen[term] = seen[term] || v != 0
		}
		require.InDelta(t, sum, out[0], 1e-2)
	}
	require.NotContains(t, seen, false)
	s := roundStart(r)
	h.Weights[Points], s.Sides[0].Points = entry.MaxWeight, 1<<29
	h.Evaluate([]env.State{s}, 0, out)
	require.Equal(t, search.Limit, out[0])
}

// chasms, holes and heights cell by cell
func TestTerms6AgainstTwin(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	for i := 0; i < 2000; i++ {
		f, solid := randomField(r)
		h := blockbattle.Height - solid
		want := 0.0
		for y := 0; y < h; y++ {
			for x := 0; x < blockbattle.Width; x++ {
				if f.At(x, y) {
					want -= 50 + 56.25*float64(h-y)
					continue
				}
				if y > 0 && f.At(x, y-1) {
					want -= 500
				}
				if x > 0 && x < 9 && f.At(x-1, y) && f.At(x+1, y) {
					want -= 400
				}
			}
		}
		side := blockbattle.Side{Cells: f, Solid: uint8(solid)}
		require.InDelta(t, want, float64(terms6(&side)), 0.5, "seed %d, position %d", *seed, i)
	}
}

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
