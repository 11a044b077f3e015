package blocking

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// slowObserve is the observation as doc.go has it, cell by cell and letter by letter.
func slowObserve(s *State, seat int) (planes []uint8, globals []float32) {
	n := int(s.Seats)
	yes := func(b bool) float32 {
		if b {
			return 1
		}
		return 0
	}
	_, connected := s.Open(seat)
	for i := range numPlanes {
		for at := range Size * Size {
			set := connected
			if i < env.MaxSeats {
				set = Board{}
			}
			if i < n {
				set = s.Cells[(seat+i)%n]
			}
			planes = append(planes, uint8(yes(set.Has(at%Size, at/Size))))
		}
	}
	var points, active []float32
	for i := range env.MaxSeats {
		who := (seat + i) % n
		for l := range Letters {
			globals = append(globals, yes(i < n && s.Left[who]>>l&1 != 0))
		}
		if i < n {
			points = append(points, float32(s.Score(who)))
			active = append(active, yes(s.Reason == Running && !s.Out.Has(who) && !s.Stuck.Has(who)))
		} else {
			points, active = append(points, 0), append(active, 0)
		}
	}
	globals = append(append(globals, points...), active...)
	for i := range env.MaxSeats {
		globals = append(globals, yes(i == seat))
	}
	for i := 2; i <= 4; i++ {
		globals = append(globals, yes(i == n))
	}
	return planes, append(globals, yes(s.Acting().Has(seat)))
}

// An observation is written over whatever the slices held, and nothing beside them.
func TestObserveAgreesWithCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	planes, globals := make([]uint8, numPlanes*Size*Size+16), make([]float32, numGlobals+4)
	play(t, 0, 1000, func(s *State, seat int, legal []env.Action) {
		next := s.copied()
		a := legal[rng.IntN(len(legal))]
		if rng.IntN(50) == 0 {
			a = env.None
		}
		next.Step(env.Alone(seat, a))
		for seat := range int(s.Seats) {
			for i := range planes {
				planes[i] = 9
			}
			for i := range globals {
				globals[i] = 9
			}
			next.Observe(seat, planes[8:len(planes)-8], globals[2:len(globals)-2])
			p, g := slowObserve(next, seat)
			require.Equal(t, p, planes[8:len(planes)-8])
			require.Equal(t, g, globals[2:len(globals)-2])
			require.Equal(t, []uint8{9, 9, 9, 9, 9, 9, 9, 9}, planes[:8])
			require.Equal(t, planes[:8], planes[len(planes)-8:])
			require.Equal(t, []float32{9, 9, 9, 9}, append(globals[:2:2], globals[len(globals)-2:]...))
		}
	})
}
