package vec

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// TestNthAgainstCounting finds every set bit of words of all densities, as by taking the
// lower ones away.
func TestNthAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 1))
	words := []uint64{1, 1 << 63, ^uint64(0), 0x8000000000000001}
	for range 10_000 {
		word := rng.Uint64()
		words = append(words, word, word&rng.Uint64()&rng.Uint64()&rng.Uint64(), word|rng.Uint64()|rng.Uint64())
	}
	for _, word := range words {
		var got, want []int
		for left := word; left != 0; left &= left - 1 {
			got, want = append(got, nth(word, len(got))), append(want, bits.TrailingZeros64(left))
		}
		require.Equal(t, want, got, "%#x", word)
	}
}
