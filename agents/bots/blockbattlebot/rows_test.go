package blockbattlebot

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// The rows of a batch are the counts of the actions one by one, with vector instructions and without.
func TestRowsAgainstTwin(t *testing.T) {
	vector := vectorRows
	defer func() { vectorRows = vector }()
	r := rand.New(rand.NewSource(*seed))
	var one FeatureReader
	batches := map[string]*FeatureReader{"vector": {}, "plain": {}}
	var want [OwnLen]int32
	shared, full := make([]float32, ConstLen), 0
	for done := 0; done < envtest.Many(20_000, 100_000); {
		s := roundStart(r)
		s.Force(make([]uint16, env.MaxDraws))
		seat := r.Intn(2)
		legal := s.Legal(seat, nil)
		one.SharedAfter(s, seat, shared)
		for name, b := range batches {
			if vectorRows = nil; name == "vector" {
				vectorRows = vector
			}
			b.SharedAfter(s, seat, shared)
			for from := 0; from < len(legal); {
				var at [8]int
				n, used := b.Batch(legal[from:], &at)
				require.Positive(t, used)
				k := 0
				for i, a := range legal[from : from+used] {
					read := one.CountsAfter(a, want[:])
					require.Equal(t, read, k < n && at[k] == i, "%s: action %s of\n%v", name, blockbattle.Text(a), s)
					if !read {
						continue
					}
					if want != [OwnLen]int32(b.Row(k)) {
						require.Equal(t, want[:], b.Row(k), "seed %d, %s, action %s of\n%v", *seed, name, blockbattle.Text(a), s)
					}
					k++
				}
				require.Equal(t, n, k)
				if n == 8 {
					full++
				}
				done, from = done+n, from+used
			}
		}
	}
	require.Greater(t, full, 100)
	s, b, at := roundStart(r), batches["vector"], [8]int{}
	legal := s.Legal(0, nil)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		b.SharedAfter(s, 0, shared)
		b.Batch(legal, &at)
	}))
}
