package mlp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scale gives the products of float32, in plain Go and in vector instructions, and no more than its memory.
func TestScale(t *testing.T) {
	t.Cleanup(func() { setVector(hasVector) })
	rng := rand.New(rand.NewPCG(5, 8))
	for trial := range 200 {
		setVector(trial%2 == 0 && hasVector)
		in, rows := 1+rng.IntN(80), rng.IntN(34)
		padded := (in + 7) &^ 7
		units, counts := make([]float32, padded), make([]int16, rows*padded)
		for i := range units {
			units[i] = rng.Float32()
		}
		for i := range counts {
			counts[i] = int16(rng.IntN(1 << 16))
		}
		var want []float32
		for i, c := range counts {
			if i%padded < in {
				want = append(want, float32(c)*units[i%padded])
			}
		}
		need := rows*in + padded - in
		out := slices.Repeat([]float32{-7}, need+8)
		Scale(counts, units, in, out[:need])
		require.True(t, slices.Equal(want, out[:rows*in]), "trial %d: %d rows of %d", trial, rows, in)
		require.Equal(t, slices.Repeat([]float32{-7}, 8), out[need:])
	}
}
