package envtest

import (
	"testing"

	"blockyard/env"
)

// Fuzz passes bytes to Decode and plays on from the positions that it accepts.
func Fuzz(f *testing.F, g *env.Game) {
	seats := g.MinSeats
	w := newWalker(g, seats, 1)
	err := w.each(1, func(s env.State, ply int) error {
		if ply%8 != 0 {
			return nil
		}
		data, err := env.Encode(nil, s)
		f.Add(data, uint64(ply))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if err := exercise(g, seats, data, seed); err != nil {
			t.Fatal(err)
		}
	})
}
