package vec

import (
	"math/bits"
	"math/rand/v2"
	"testing"

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
		n := 0
		for left := word; left != 0; left &= left - 1 {
			if got, want := nth(word, n), bits.TrailingZeros64(left); got != want {
				t.Fatalf("bit %d of %#x is found at %d, want %d", n, word, got, want)
			}
			n++
		}
	}
}
