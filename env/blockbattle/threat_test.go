package blockbattle

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The threat is what rounds report at most, and an action survives it exactly if the seat is still there after the
// round in which the opponent sends that many rows. Cells of the rows themselves are in the way only at the very top.
func TestThreat(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	survived := map[bool]int{}
	for range 300 {
		s := randomState(rng, Document)
		theirs := s.Legal(1, nil)
		most, strongest := 0, theirs[0]
		for _, b := range theirs {
			next, rep := *s, Report{}
			lands := [2]Landing{s.Landing(0, s.Legal(0, nil)[0]), s.Landing(1, b)}
			next.Play(&lands, &rep)
			if rep.Sides[1].Lines > most && next.Sides[1].Lost != LostOverflow {
				most, strongest = rep.Sides[1].Lines, b
			}
		}
		require.Equal(t, most, s.Threat(1, theirs))
		for _, a := range s.Legal(0, nil) {
			after, next := *s, *s
			after.After(0, a)
			if after.Over || int(after.Sides[0].Solid)+most > Height-4 {
				continue
			}
			lands := [2]Landing{s.Landing(0, a), s.Landing(1, strongest)}
			next.Play(&lands, nil)
			if lost := next.Sides[1].Lost; lost != NotLost && lost != LostSpawn {
				continue // then no piece appears
			}
			alive := next.Sides[0].Lost == NotLost
			require.Equal(t, alive, after.Survives(0, most), "%s", Text(a))
			survived[alive]++
		}
	}
	require.Greater(t, survived[true], 500)
	require.Greater(t, survived[false], 50)
}
