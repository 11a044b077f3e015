package search

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/env"
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
