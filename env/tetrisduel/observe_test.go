package tetrisduel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/falling"
)

func TestObserveAgainstCells(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	planes, globals := make([]uint8, Game.Planes.Len()), make([]float32, Game.Globals())
	for range 300 {
		s := Game.New(2).(*State)
		s.Reset(r.Uint64())
		s.Cells = falling.Field{}
		for range r.IntN(Width * Height) {
			s.Cells.Set(r.IntN(Width), r.IntN(Height))
		}
		for seat := range 2 {
			for i := range planes {
				planes[i] = 9
			}
			s.Observe(seat, planes, globals)
			for y := range Height {
				for x := range Width {
					want := s.Cells.At(x, y)
					if seat == 1 {
						want = s.Cells.At(Width-1-x, Height-1-y)
					}
					require.Equal(t, want, planes[y*Width+x] == 1, "seat %d x %d y %d", seat, x, y)
					require.LessOrEqual(t, planes[y*Width+x], uint8(1))
				}
			}
		}
	}
}
