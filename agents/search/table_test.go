package search

import (
	"context"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest/toy"
)

func TestTableMemoryIsStated(t *testing.T) {
	require.Equal(t, TableMemory, int(tableLen*unsafe.Sizeof(entry{})))
}

// The value in an entry answers for as much as is known: at most, at least or exactly so much, in the same iteration,
// at the same ply.
func TestKnownIsWhatWasSearched(t *testing.T) {
	var e entry
	for _, c := range []struct {
		v, alpha, beta float32 // of the search
		low, high      float32 // asked
		stamp          uint32
		ply            int
		known          bool
	}{
		{5, 0, 10, 0, 10, 7, 2, true},
		{5, 0, 10, 6, 7, 7, 2, true},
		{5, 0, 10, 0, 10, 8, 2, false},
		{5, 0, 10, 0, 10, 7, 3, false},
		{0, 0, 10, 0, 10, 7, 2, true},
		{0, 0, 10, -1, 10, 7, 2, false},
		{-3, 0, 10, -2, 10, 7, 2, true},
		{10, 0, 10, 0, 10, 7, 2, true},
		{12, 0, 10, 0, 11, 7, 2, true},
		{12, 0, 10, 0, 13, 7, 2, false},
	} {
		e.set(7, 2, c.v, c.alpha, c.beta, env.None)
		v, known := e.known(c.stamp, c.ply, c.low, c.high)
		require.Equal(t, c.known, known, "%+v", c)
		if known {
			require.Equal(t, c.v, v)
		}
	}
}

// A new position takes the place of another, and nothing of that is left.
func TestTableReplaces(t *testing.T) {
	m := table{entries: make([]entry, tableLen)}
	e := m.at(3, nil)
	e.listed, e.first = 4, 9
	require.Equal(t, int8(4), m.at(3, nil).listed)
	require.Equal(t, entry{key: 3 + tableLen, first: env.None}, *m.at(3+tableLen, nil))
	require.Equal(t, entry{key: 3, first: env.None}, *m.at(3, nil))
}

// The actions that were best elsewhere are each kept once, the latest first.
func TestKeepMovesToTheFront(t *testing.T) {
	var n node
	for a := env.Action(0); a < bests+2; a++ {
		n.keep(a)
	}
	require.Equal(t, []env.Action{9, 8, 7, 6, 5, 4, 3, 2}, n.best)
	n.keep(6)
	n.keep(6)
	require.Equal(t, []env.Action{6, 9, 8, 7, 5, 4, 3, 2}, n.best)
}

// full is the value of s for the seat to move, with every action searched.
func full(e Evaluator, s env.State, ply, from int) float32 {
	s.Force(zeros[:])
	mover := s.Acting().First()
	best := float32(math.Inf(-1))
	for _, a := range s.Legal(mover, nil) {
		child := toy.Turns.New(2)
		child.CopyFrom(s)
		env.After(child, mover, a)
		v, ended := Over(child, mover, from+1)
		switch {
		case ended:
		case ply > 1:
			if v = full(e, child, ply-1, from+1); child.Acting().First() != mover {
				v = -v
			}
		default:
			var out [1]float32
			e.Evaluate([]env.State{child}, mover, out[:])
			v = out[0]
		}
		best = max(best, v)
	}
	return best
}

// lead is a zero-sum evaluator of the toy games.
type lead struct{}

func (lead) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		t := s.(*toy.State)
		word := env.Mix(uint64(t.Points[0])<<32 ^ uint64(t.Points[1]))
		out[i] = float32(int(t.Points[0])-int(t.Points[1])) + float32(word%8)/4
		if seat == 1 {
			out[i] = -out[i]
		}
	}
}

// In a game whose positions have no hash, the value is that of the full search too.
func TestMinimaxOfToysIsTheFullSearch(t *testing.T) {
	random := NewRandom(4)
	searched := 0
	for ply := 3; ply <= 5; ply++ {
		m := NewMinimax(toy.Turns, lead{}, ply, 100)
		require.Nil(t, m.table.entries)
		for seed := range uint64(100) {
			s, view := toy.Turns.New(2), toy.Turns.New(2)
			for s.Reset(seed); s.Acting() != 0; {
				seat := s.Acting().First()
				env.View(view, s, seat, seed)
				_, err := m.Act(context.Background(), view, seat)
				require.NoError(t, err)
				require.Equal(t, full(lead{}, view, ply, 0), m.Value(), "%d plies, seed %d", ply, seed)
				searched++
				a, err := random.Act(context.Background(), s, seat)
				require.NoError(t, err)
				s.Step(env.Alone(seat, a))
			}
		}
	}
	require.Greater(t, searched, 1000)
}
