package tetrisduel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// Everything that the future of a position depends on changes its hash, and positions of random games have different
// ones.
func TestHash(t *testing.T) {
	first := Game.New(2).(*State)
	seen := map[uint64]State{}
	for _, change := range []func(s *State){
		func(*State) {},
		func(s *State) { s.Cells[3] ^= 1 << 9 },
		func(s *State) { s.Points[0]++ },
		func(s *State) { s.Points[1]++ },
		func(s *State) { s.Turn++ },
		func(s *State) { s.Combo++ },
		func(s *State) { s.Flag = !s.Flag },
		func(s *State) { s.Deal[0]++ },
		func(s *State) { s.Deal[3]++ },
	} {
		s := *first
		change(&s)
		_, known := seen[s.Hash()]
		require.False(t, known, "%+v", s)
		seen[s.Hash()] = s
	}
	s := Game.New(2).(*State)
	for seed := uint64(1); len(seen) < 20000; seed++ {
		s.Reset(seed)
		for n := uint64(0); s.Acting() != 0; n++ {
			seat := s.Acting().First()
			legal := s.Legal(seat, nil)
			for i, a := range legal {
				if i%8 == 0 {
					child := *s
					child.Step(env.Alone(seat, a))
					child.Rand = env.Rand{}
					before, known := seen[child.Hash()]
					require.True(t, !known || before == child, "%+v and %+v", before, child)
					seen[child.Hash()] = child
				}
			}
			s.Step(env.Alone(seat, legal[env.Derive(seed, n)%uint64(len(legal))]))
		}
	}
}
