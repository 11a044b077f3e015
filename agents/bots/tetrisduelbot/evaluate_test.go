package tetrisduelbot

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
)

// The terms to the seat that has just moved are its counts less the other's. All but points fade over the last
// half-turns. One seat's gain is the other's loss.
func TestTermsAgainstTwin(t *testing.T) {
	next, h, out, other := positions(), NewHand(), make([]float32, 1), make([]float32, 1)
	for range envtest.Many(3000, 100_000) {
		s := next()
		seat := 1 - s.Mover()
		ownBoard, oppBoard := s.Board(seat), s.Board(s.Mover())
		own, opp := slowShape(&ownBoard), slowShape(&oppBoard)
		var want [Terms]int
		want[Lead] = int(s.Points[seat] - s.Points[1-seat])
		for sign, x := range map[int]*shape{1: &own, -1: &opp} {
			high, kindsThat := rows-x.minFree, 0
			for _, n := range x.takes {
				kindsThat += min(n, 1)
			}
			for term, n := range map[Term]int{
				Holes: x.holes, Covers: x.covers, RowEdges: x.rowEdges, ColEdges: x.colEdges, Wells: x.wells, Bumps: x.bumps,
				Open: x.open, Heap: x.heap, Peak: max(high-5, 0) * max(high-5, 0), Danger: max(high-11, 0) * max(high-11, 0),
				Clean1: x.clean[0], Clean2: x.clean[1], Clean3: x.clean[2], Clean4: x.clean[3], Calm: x.calm[0], Kinds: kindsThat,
			} {
				want[term] += sign * n
			}
		}
		gain := func(x *shape, after int) (points, takes int) { // of the block after so many half-turns
			if int(s.Turn)+after > tetrisduel.HalfTurns {
				return 0, 0
			}
			k := s.Block(int(s.Turn) + after)
			takes = min(x.takes[k], 1)
			return x.gains[k] + takes*int(s.Combo), takes
		}
		now, takes := gain(&opp, 0)
		want[Next], _ = gain(&own, 1)
		later, _ := gain(&opp, 2)
		want[Now], want[Later], want[Carry] = -now, -later, int(s.Combo)*(1-2*takes)

		h.Evaluate([]env.State{s}, seat, out)
		rest := float32(0)
		for term, n := range want {
			require.EqualValues(t, n, h.terms[term][0], "%s of %v", TermNames[term], s)
			rest += float32(n) * Tuned[term]
		}
		lead := float32(want[Lead]) * Tuned[Lead]
		faded := (rest - lead) * min(1, float32(tetrisduel.HalfTurns+1-int(s.Turn))/40)
		require.InDelta(t, lead+faded, out[0], 1e-2)
		h.Evaluate([]env.State{s}, 1-seat, other)
		require.Equal(t, out[0], -other[0])
	}
}

// A half is the same function of either seat's end, but for the blocks that are to come.
func TestFeatures(t *testing.T) {
	require.Len(t, FeatureNames, Len)
	for i, name := range FeatureNames[:halfLen] {
		require.Equal(t, "opponent"+name[len("own"):], FeatureNames[halfLen+i])
	}
	side := func(half []float32) []float32 { return slices.Delete(slices.Clone(half), nextAt, nextAt+4*soon) }
	var x, y [Len]float32
	next := positions()
	for range 1000 {
		s := next()
		fill(s, x[:])
		for i, v := range x {
			require.True(t, v >= -8 && v <= 15 && v == v, "%s is %v", FeatureNames[i], v)
		}
		s.Turn = 1 + s.Turn%tetrisduel.HalfTurns // the other has moved
		fill(s, y[:])
		require.Equal(t, side(x[:halfLen]), side(y[halfLen:2*halfLen]))
		require.Equal(t, side(x[halfLen:2*halfLen]), side(y[:halfLen]))
	}
}

// fill writes all features of s as the seat that has just moved sees it.
func fill(s *tetrisduel.State, out []float32) {
	r := new(FeatureReader)
	r.Shared(s, moved(s), out[OwnLen:])
	r.Own(s, moved(s), out[:OwnLen])
}
