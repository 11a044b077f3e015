package blockingbot

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
)

func TestHandIsTheOthersLoss(t *testing.T) {
	h := NewHand()
	out := make([]float32, 2)
	positions(2, 3, func(s *blocking.State) {
		h.Evaluate([]env.State{s}, 0, out[:1])
		h.Evaluate([]env.State{s}, 1, out[1:])
		require.InDelta(t, out[0], -out[1], 1e-4)
	})
}

// Each term counts by itself, for the seat and against it.
func TestTermsOneByOne(t *testing.T) {
	out := make([]float32, 1)
	seen := [Terms]bool{}
	positions(3, 2, func(s *blocking.State) {
		var each [3][Terms]float32
		for i := range each {
			each[i] = terms(s, i)
		}
		for term := range Terms {
			var h Hand
			h.Weights[term] = 2
			h.Evaluate([]env.State{s}, 1, out)
			best := max(each[0][term], each[2][term])
			require.InDelta(t, 2*each[1][term]-best-(each[0][term]+each[2][term])/2, out[0], 1e-3, TermNames[term])
			seen[term] = seen[term] || each[1][term] != 0
		}
	})
	require.NotContains(t, seen, false)
}

// terms returns the terms of a seat in s.
func terms(s *blocking.State, seat int) [Terms]float32 {
	var m analysis
	for i := range int(s.Seats) {
		m.flood(s, i)
	}
	return m.terms(s, seat, &Weights{Safe: 1, First: 1})
}

// player makes a search with an evaluator.
func player(name string, ply int, e func() search.Evaluator) match.Player {
	return match.Player{Name: name, New: func(uint64) (env.Agent, error) {
		return search.New(blocking.Game, e(), search.Options{Ply: ply})
	}}
}

// The tuned player beats the greedy one three to one; here on few games with room for luck.
func TestHandBeatsGreedy(t *testing.T) {
	r, err := match.Match{
		Rules: blocking.Game, Units: 10, Seed: 5,
		Players: []match.Player{
			player("hand", 2, func() search.Evaluator { return NewHand() }),
			player("greedy", 1, func() search.Evaluator { return &Greedy{} }),
		},
	}.Play(t.Context())
	require.NoError(t, err)
	require.Greater(t, r.Meetings[0].Score.Value, 0.6)
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
		a, err := agent.Act(context.Background(), &view, seat)
		require.NoError(t, err)
		next := *s
		env.After(&next, seat, a)
		if o, _, _ := s.Table().Placement(a); next.Acting() != 0 {
			require.Len(t, o.Cells, most)
		}
	})
}
