package blockingbot

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// Each term counts by itself: for the seat, and half for the best of the others and half for their mean.
func TestTermsOneByOne(t *testing.T) {
	out := make([]float32, 1)
	seen := [Terms]bool{}
	check := func(s *blocking.State) {
		var m analysis
		for i := range int(s.Seats) {
			m.flood(s, i)
		}
		for term := range Terms {
			var each []float32
			for i := range int(s.Seats) {
				var terms [Terms]float32
				m.terms(s, i, &Weights{Safe: 1, First: 1}, &terms)
				each = append(each, terms[term])
			}
			own, rest := each[1], slices.Delete(slices.Clone(each), 1, 2)
			mean := float32(0)
			for _, v := range rest {
				mean += v / float32(len(rest))
			}
			var h Hand
			h.Weights[term] = 2
			h.Evaluate([]env.State{s}, 1, out)
			require.InDelta(t, 2*own-slices.Max(rest)-mean, out[0], 1e-3, TermNames[term])
			seen[term] = seen[term] || own != 0
		}
	}
	for seats := 2; seats <= 4; seats++ {
		positions(seats, 2, check)
	}
	require.NotContains(t, seen, false)
}

// The tuned player beats the greedy one three to one; here on few games with room for luck.
func TestHandBeatsGreedy(t *testing.T) {
	g := blocking.Game
	m := match.Match{Rules: g, Units: 10, Seed: 5, Players: []match.Player{
		{Name: "hand", New: func(uint64) (env.Agent, error) { return search.New(g, NewHand(), search.Options{}) }},
		{Name: "greedy", New: func(uint64) (env.Agent, error) { return search.NewGreedy(g, &Greedy{}), nil }},
	}}
	require.Greater(t, envtest.Must(m.Play(t.Context())).Meetings[0].Score.Value, 0.6)
}

// Greedy lays the largest piece it can.
func TestGreedyLaysLargestFirst(t *testing.T) {
	agent := search.NewGreedy(blocking.Game, &Greedy{})
	positions(4, 2, func(s *blocking.State) {
		seat := s.Acting().First()
		most := 0
		for _, a := range s.Legal(seat, nil) {
			o, _, _ := s.Table().Placement(a)
			most = max(most, len(o.Cells))
		}
		view := *s
		a := envtest.Must(agent.Act(t.Context(), &view, seat))
		next := *s
		env.After(&next, seat, a)
		if o, _, _ := s.Table().Placement(a); next.Acting() != 0 {
			require.Len(t, o.Cells, most)
		}
	})
}
