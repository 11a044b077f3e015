package blockbattlebot

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/features"
	"blockyard/env/envtest"
	"blockyard/env/falling"
)

// slowTerms are the terms of a board from its shape, counted cell by cell.
func slowTerms(f *falling.Field, solid, least int) (t [Terms]int32) {
	s := slowShape(f, solid)
	for term, n := range map[Term]int{
		Holes: s.holes, Covers: s.covers, HoleRows: s.holeRows, Overhangs: s.overhangs, RowEdges: s.rowEdges,
		ColEdges: s.colEdges, Wells: s.wells, Bumps: slowBumps(s.tops()), Cells: s.cells,
		GapOpen: s.gapOpen, GapClosed: s.gapClosed, Ready: s.ready,
		Slots: s.slots, Singles: s.singles, Doubles: min(s.doubles, 1), Notches: s.notches, Halves: s.halves,
		Peak: max(10-s.minFree, 0) * max(10-s.minFree, 0), Spawn: max(4-s.spawn, 0) * max(4-s.spawn, 0),
		Exposed: max(least-s.minFree, 0) * max(least-s.minFree, 0), Quad: int(features.Yes(s.ready == 4)),
	} {
		t[term] = int32(n)
	}
	return t
}

// The kernels, plain Go and counting cell by cell agree.
func TestBatchAgainstTwins(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	var b batch
	counts := append([]func(*batch, *[Terms][8]int32, int, int){(*batch).countPlain, (*batch).count}, vectorCounts...)
	for i := 0; i < envtest.Many(20_000, 100_000); i += 8 {
		n, least := 1+r.Intn(8), r.Intn(8)
		var want [8][Terms]int32
		for k := 0; k < n; k++ {
			f, solid := randomField(r)
			b.set(k, &f, solid)
			want[k] = slowTerms(&f, solid, least)
		}
		for c, count := range counts {
			var got [Terms][8]int32
			count(&b, &got, least, n)
			for k := 0; k < n; k++ {
				for term, v := range want[k] {
					if v != got[term][k] { // require is slow
						require.Equal(t, v, got[term][k], "seed %d, position %d, count %d: %s", *seed, i+k, c, TermNames[term])
					}
				}
			}
		}
	}
}
