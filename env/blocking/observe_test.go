package blocking

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// slowObserve is the observation as doc.go has it, cell by cell and letter by letter.
func slowObserve(s *State, seat int) (planes []uint8, globals []float32) {
	n := int(s.Seats)
	one := map[bool]float32{true: 1}
	_, connected := s.Open(seat)
	var points, active []float32
	for i := range numPlanes {
		who, set := (seat+i)%n, Board{}
		switch {
		case i == env.MaxSeats:
			set = connected
		case i < n:
			set = s.Cells[who]
		}
		for at := range Size * Size {
			planes = append(planes, uint8(one[set.Has(at%Size, at/Size)]))
		}
		if i == env.MaxSeats {
			break
		}
		for l := range Letters {
			globals = append(globals, one[i < n && s.Left[who]>>l&1 != 0])
		}
		points = append(points, one[i < n]*float32(s.Score(who)))
		active = append(active, one[i < n && s.Reason == Running && !s.Out.Has(who) && !s.Stuck.Has(who)])
	}
	globals = append(append(globals, points...), active...)
	for i := range env.MaxSeats {
		globals = append(globals, one[i == seat])
	}
	for i := 2; i <= 4; i++ {
		globals = append(globals, one[i == n])
	}
	return planes, append(globals, one[s.Acting().Has(seat)])
}

// An observation is written over whatever the slices held, and nothing beside them.
func TestObserveAgreesWithCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	play(t, 0, 1000, func(s *State, seat int, legal []env.Action) {
		next := s.copied()
		a := legal[rng.IntN(len(legal))]
		if rng.IntN(50) == 0 {
			a = env.None
		}
		next.Step(env.Alone(seat, a))
		for seat := range int(s.Seats) {
			p, g := slowObserve(next, seat)
			planes, globals := slices.Repeat([]uint8{9}, len(p)+16), slices.Repeat([]float32{9}, len(g)+4)
			wide, high := slices.Clone(planes), slices.Clone(globals)
			copy(wide[8:], p)
			copy(high[2:], g)
			next.Observe(seat, planes[8:len(planes)-8], globals[2:len(globals)-2])
			require.Equal(t, wide, planes)
			require.Equal(t, high, globals)
		}
	})
}
