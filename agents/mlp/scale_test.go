package mlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scale gives the products of float32, in plain Go and in vector instructions, and no more than its memory.
func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for _, on := range []bool{false, hasVector} {
		setVector(on)
		for _, in := range []int{1, 7, 8, 9, 75, 80} {
			padded := (in + 7) &^ 7
			for _, rows := range []int{0, 1, 2, 33} {
				units := make([]float32, padded)
				for i := range units {
					units[i] = rng.Float32()
				}
				counts := make([]int16, rows*padded)
				for i := range counts {
					counts[i] = int16(rng.IntN(1 << 16))
				}
				need := rows*in + padded - in
				out := make([]float32, need+8)
				for i := range out[need:] {
					out[need+i] = -7
				}
				Scale(counts, units, in, out[:need])
				for i, v := range out[:rows*in] {
					want := float32(float64(counts[i/in*padded+i%in]) * float64(units[i%in]))
					require.Equal(t, math.Float32bits(want), math.Float32bits(v), fmt.Sprint(on, in, rows, i))
				}
				for _, v := range out[need:] {
					require.Equal(t, float32(-7), v)
				}
			}
		}
	}
	setVector(hasVector)
}
