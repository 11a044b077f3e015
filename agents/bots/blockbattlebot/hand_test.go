package blockbattlebot

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
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
