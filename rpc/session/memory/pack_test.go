package memory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPack holds packing to a slow twin, for every width and many lengths.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, bits := range []int{1, 2, 4, 8} {
		for n := range 70 {
			t.Run(fmt.Sprint(bits, n), func(t *testing.T) {
				cells := make([]byte, n)
				for i := range cells {
					cells[i] = byte(r.UintN(1 << bits))
				}
				got, want := make([]byte, (n*bits+7)/8), make([]byte, (n*bits+7)/8)
				for i := range got {
					got[i] = 0xff // what was there before
				}
				Pack(got, cells, bits)
				for j, c := range cells {
					for k := range bits {
						want[(j*bits+k)/8] |= c >> k & 1 << ((j*bits + k) % 8)
					}
				}
				require.Equal(t, want, got)
			})
		}
	}
}
