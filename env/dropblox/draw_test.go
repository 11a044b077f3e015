package dropblox

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowTwister is MT19937 as its authors wrote it down: init_by_array and genrand_int32.
type slowTwister struct {
	mt  [words]uint32
	mti int
}

func (s *slowTwister) seed(key []uint32) {
	mt := &s.mt
	mt[0] = 19650218
	for i := uint32(1); i < words; i++ {
		mt[i] = 1812433253*(mt[i-1]^mt[i-1]>>30) + i
	}
	i, j := 1, 0
	for range max(words, len(key)) {
		mt[i] = (mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1664525) + key[j] + uint32(j)
		if i++; i >= words {
			mt[0], i = mt[words-1], 1
		}
		if j++; j >= len(key) {
			j = 0
		}
	}
	for range words - 1 {
		mt[i] = (mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1566083941) - uint32(i)
		if i++; i >= words {
			mt[0], i = mt[words-1], 1
		}
	}
	mt[0], s.mti = 1<<31, words
}

func (s *slowTwister) next() uint32 {
	if s.mti >= words {
		for k := range words {
			y := s.mt[k]&(1<<31) | s.mt[(k+1)%words]&(1<<31-1)
			s.mt[k] = s.mt[(k+middle)%words] ^ y>>1
			if y&1 != 0 {
				s.mt[k] ^= 0x9908b0df
			}
		}
		s.mti = 0
	}
	y := s.mt[s.mti]
	s.mti++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func TestTwisterAgainstSlowTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range 80 {
		key := make([]uint32, 1+n*n/8) // up to more words than the generator has
		for k := range key {
			key[k] = rng.Uint32()
		}
		var fast Twister
		var slow slowTwister
		fast.Seed(key)
		slow.seed(key)
		require.Equal(t, slow.mt, fast.Word, "%d words", len(key))
		for range 2000 {
			require.Equal(t, slow.next(), fast.next())
		}
		require.Equal(t, slow.mt, fast.Word)
	}
}

// What is kept for a score is what the rules compute, the first time and later; at scores of no game too.
func TestKeptForScores(t *testing.T) {
	for range 2 {
		for score := -3; score < 2*len(meanSizes); score++ {
			require.Equal(t, float32(MeanSize(score)), meanSize(score))
			require.Equal(t, ratio(score)*sigma(float64(2*(score-levelStep))/levelStep), firstLevel(score))
		}
	}
}
