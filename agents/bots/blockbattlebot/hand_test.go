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

const (
	// A heap with covered holes in columns 1 and 4, a pit in column 8 and a hole in column
	// 9 that is open to it.
	heap = `
		#.........
		##..####..
		#.##.###..
		########.#
		########..
		==========`
	// Two rows wait for a T in column 4, its left shoulder covered.
	tDouble = `
		...#......
		###...####
		####.#####`
	tSingle = `
		...#......
		###...###.
		####.#####`
	tNotch = `
		###...####
		####.#####`
	tSlot = `
		...#......
		###...##..
		####.####.`
	quadWell = `
		#########.
		#########.
		#########.
		#########.`
	tower = `
		.........#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#
		....#....#`
)

// One weight is 1, the others are 0: the worth is that term, which is not of one board alone. TestBatchAgainstTwins has
// those that are.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		term          Term
		own, opponent string
		change        func(s *blockbattle.State)
		want          float32
	}{
		{Doubles, tDouble + " ==========", "", nil, 1},
		{Points, "", "", func(s *blockbattle.State) { s.Sides[0].Points = 17 }, 17},
		{Sent, "", "", func(s *blockbattle.State) { s.Sides[1].Pending = 3 }, 3},
		{Combo, "", "", func(s *blockbattle.State) { s.Sides[0].Combo = 2 }, 2},
		{Skips, "", "", func(s *blockbattle.State) { s.Sides[0].Skips = 7 }, 4},
		{Pressed, "", tower, func(s *blockbattle.State) { s.Sides[1].Pending = 1 }, 8},
		{Pressed, tower, "", func(s *blockbattle.State) { s.Sides[1].Pending = 1 }, 0},
		{Buried, "", tower, func(s *blockbattle.State) { s.Sides[1].Pending = 3 }, 1},
		{Buried, "", tower, func(s *blockbattle.State) { s.Sides[1].Pending = 2 }, 0},
		{Exposed, tower, quadWell, nil, 16},
		{Exposed, tower, "", nil, 1},
		{Exposed, heap, quadWell, nil, 0},
	} {
		s := draw(t, c.own, c.opponent)
		if c.change != nil {
			c.change(s)
		}
		h := Hand{}
		h.Weights[c.term] = 1
		var out [1]float32
		h.Evaluate([]env.State{s}, 0, out[:])
		require.Equal(t, c.want, out[0], "%s of %s against %s", TermNames[c.term], c.own, c.opponent)
	}
}

func TestHandKeepsWithinTheLimit(t *testing.T) {
	h := Hand{}
	for i := range h.Weights {
		h.Weights[i] = entry.MaxWeight
	}
	s := draw(t, "", "")
	s.Sides[0].Points = 1 << 29
	var out [1]float32
	h.Evaluate([]env.State{s}, 0, out[:])
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

// benchmark times an evaluator on the children of decisions in a game.
func benchmark(b *testing.B, e search.Evaluator) {
	var calls [][]env.State
	most := 0
	for seed := uint64(1); seed <= 16; seed++ {
		states := children(b, seed, 0, 12)
		calls = append(calls, states)
		most = max(most, len(states))
	}
	out := make([]float32, most)
	e.Evaluate(calls[0], 0, out)
	done := 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		states := calls[i%len(calls)]
		e.Evaluate(states, 0, out)
		done += len(states)
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "evals/s")
	b.ReportMetric(float64(done)/float64(b.N), "states/op")
}

// The worth of a position is the sum of its terms, each times its weight.
func TestHandIsTheSumOfItsTerms(t *testing.T) {
	s := draw(t, tDouble, quadWell)
	s.Sides[0].Points = 5
	h, out, sum := NewHand(), make([]float32, 1), float32(0)
	h.Evaluate([]env.State{s}, 0, out)
	require.EqualValues(t, 1, h.terms[Doubles][0])
	require.EqualValues(t, 5, h.terms[Points][0])
	require.Zero(t, h.terms[Combo][0])
	for i, v := range h.terms {
		sum += float32(v[0]) * Tuned[i]
	}
	require.InDelta(t, out[0], sum, 1e-3)
}
