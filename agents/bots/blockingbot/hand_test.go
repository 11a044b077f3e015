package blockingbot

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/mlp"
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

func net(t testing.TB) *mlp.Net {
	n, err := Entry.LoadNet(blocking.Game, "")
	require.NoError(t, err)
	return n
}

// With two seats a position is worth the opposite to the other one, whoever placed last.
func TestLearnedIsTheOthersLoss(t *testing.T) {
	l, err := NewLearned(net(t))
	require.NoError(t, err)
	out := make([]float32, 2)
	positions(2, 3, func(s *blocking.State) {
		l.Evaluate([]env.State{s}, 0, out[:1])
		l.Evaluate([]env.State{s}, 1, out[1:])
		require.Equal(t, out[0], -out[1])
	})
}

// Values are the net's over the features of whoever placed last, however many at once.
func TestLearnedIsTheNetOverTheFeatures(t *testing.T) {
	n := net(t)
	l, err := NewLearned(n.Clone())
	require.NoError(t, err)
	var all []env.State
	var want []float32
	var r FeatureReader
	positions(3, 1, func(s *blocking.State) {
		c := *s
		all = append(all, &c)
		x, y := make([]float32, Len), make([]float32, 1)
		fill(&r, &c, 2, x)
		n.Forward(x, 1, y)
		want = append(want, y[0])
	})
	out := make([]float32, len(all))
	l.Evaluate(all, 2, out)
	require.InDeltaSlice(t, want, out, 1e-4)
	_, err = NewLearned(mustNet(t, 3))
	require.ErrorContains(t, err, "3 inputs")
}

func mustNet(t *testing.T, in int) *mlp.Net {
	n, err := mlp.New([]mlp.Layer{{In: in, Out: 1, W: make([]float32, in), B: make([]float32, 1)}})
	require.NoError(t, err)
	return n
}

// The search of a choice takes a fraction of the contest's time, and allocates nothing.
func BenchmarkChoice(b *testing.B) {
	var all []blocking.State
	positions(2, 4, func(s *blocking.State) { all = append(all, *s) })
	l, err := NewLearned(net(b))
	require.NoError(b, err)
	for _, c := range []struct {
		name string
		ply  int
		eval search.Evaluator
	}{{"hand", 1, NewHand()}, {"hand", 2, NewHand()}, {"learned", 1, l}, {"learned", 2, l}} {
		agent, err := search.New(blocking.Game, c.eval, search.Options{Ply: c.ply})
		require.NoError(b, err)
		b.Run(c.name+" "+string(rune('0'+c.ply)), func(b *testing.B) {
			b.ReportAllocs()
			longest := time.Duration(0)
			for k := 0; b.Loop(); k++ {
				s := all[k%len(all)]
				began := time.Now()
				if _, err := agent.Act(context.Background(), &s, s.Acting().First()); err != nil {
					b.Fatal(err)
				}
				longest = max(longest, time.Since(began))
			}
			b.ReportMetric(longest.Seconds()*1000, "longest-ms")
		})
	}
}
