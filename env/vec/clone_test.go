package vec_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// Copies to any environments from any others, in chains and cycles too, leave each what its source was before, with
// the same opponents.
func TestCloneAllAtOnce(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(1, 2))
	mixtures := []vec.Mixture{nil, {{newDie, 1, 0}, {newLow, 1, 1}}}
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: n, Mixtures: mixtures})
	for range 300 {
		future(t, e, 1)
		var dst, src []int
		for _, d := range rng.Perm(n)[:rng.IntN(n+1)] {
			dst, src = append(dst, d), append(src, rng.IntN(n))
		}
		if rng.IntN(3) == 0 {
			dst, src = rng.Perm(n), rng.Perm(n)
		}
		want := positions(t, e)
		before, opponents := positions(t, e), [n]uint16{}
		for i := range opponents {
			opponents[i] = e.Opponent(i, 1)
		}
		was := opponents
		for k, d := range dst {
			want[d], opponents[d] = before[src[k]], was[src[k]]
		}
		require.NoError(t, e.CloneAll(dst, src))
		require.Equal(t, want, positions(t, e), "%v from %v", dst, src)
		for i, id := range opponents {
			require.Equal(t, id, e.Opponent(i, 1))
		}
	}
	require.ErrorContains(t, e.CloneAll([]int{1, 1}, []int{2, 3}), "two environments to copy to 1")
	require.ErrorContains(t, e.CloneAll([]int{1}, nil), "0 environments to copy to 1")
	require.Error(t, e.CloneAll([]int{n}, []int{0}))
}

// Many environments exchanged at once keep aside one position, not one each.
func TestCloneAllKeepsOnePosition(t *testing.T) {
	const n = 500
	e, _, _ := start(t, blockbattle.Game, vec.Config{Envs: n, Workers: 1})
	dst, src := make([]int, n), make([]int, n)
	for i := range n {
		dst[i], src[i] = i, (i+1)%n
	}
	require.Less(t, testing.AllocsPerRun(3, func() { require.NoError(t, e.CloneAll(dst, src)) }), n/2.)
}
