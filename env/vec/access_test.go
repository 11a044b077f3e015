package vec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// future plays n steps by the environments' own choices and returns all they wrote.
func future(t *testing.T, e *vec.Env, n int) (all []vec.Batch) {
	actions := make([]env.Action, e.Config().Envs*e.Rows())
	for range n {
		out := envtest.Must(e.NewBatch())
		play(t, 1, e, actions, out)
		all = append(all, *out)
	}
	return all
}

func TestRestoreRefuses(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 2})
	snap := envtest.Must(e.Snapshot(0, []byte("head")))[4:]
	before, last := positions(e), len(snap)-1
	refused := func(i int, snap []byte, says string) {
		require.ErrorContains(t, e.Restore(i, snap), says)
		require.Equal(t, before, positions(e))
	}
	refused(2, snap, "environment 2 of 2")
	refused(-1, snap, "environment -1 of 2")
	refused(1, nil, "snapshot of 0 bytes, want")
	refused(1, append(slices.Clone(snap), 0), "bytes, want")
	for says, edit := range map[string]struct {
		at int
		to byte
	}{
		"unknown flags 04 00 00 00":          {28, 4},
		"unknown flags 02 00 00 01":          {31, 1},
		"seat 2 in row 0, want both below 2": {32, 2},
		"seat 1 in row 2, want both below 2": {34, 1},
		"Last[3] is 255, want 0 to 3":        {last, 255},
	} {
		bad := slices.Clone(snap)
		bad[edit.at] = edit.to
		refused(1, bad, says)
	}
}

func FuzzRestore(f *testing.F) {
	e, _, _ := start(f, toy.Turns, vec.Config{Envs: 1, Agents: []vec.AgentFactory{newDie}})
	f.Add(envtest.Must(e.Snapshot(0, nil)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if e.Restore(0, data) == nil && e.Live(0) { // otherwise it awaits its reset
			future(t, e, 3)
		}
	})
}

// Copies to any environments from any others, in chains and cycles too, leave each what its source was before, with
// the same opponents.
func TestCloneAllAtOnce(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(1, 2))
	mixtures := []vec.Mixture{nil, {{newDie, 1, 0}, {newLow, 1, 1}}}
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: n, Mixtures: mixtures})
	all := func() []string {
		all := make([]string, n)
		for i, snap := range positions(e) {
			all[i] = fmt.Sprint(e.Opponent(i, 1), snap)
		}
		return all
	}
	for range 300 {
		future(t, e, 1)
		dst, src := rng.Perm(n), rng.Perm(n)
		if rng.IntN(3) > 0 {
			dst = dst[:rng.IntN(n+1)]
			src = src[:len(dst)]
			for k := range src {
				src[k] = rng.IntN(n)
			}
		}
		before, want := all(), all()
		for k, d := range dst {
			want[d] = before[src[k]]
		}
		require.NoError(t, e.CloneAll(dst, src))
		require.Equal(t, want, all(), "%v from %v", dst, src)
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

// put restores environment i with another position in its place.
func put(e *vec.Env, i int, s env.State) error {
	snap := envtest.Must(e.Snapshot(i, nil))
	return e.Restore(i, envtest.Must(env.Encode(snap[:len(snap)-env.EncodedLen(s)], s)))
}

func TestRestoreAnotherPosition(t *testing.T) {
	e, out, _ := start(t, toy.Turns, vec.Config{Envs: 2, Agents: []vec.AgentFactory{newDie}})
	s := toy.Turns.New(3).(*toy.State)
	require.NoError(t, put(e, 0, s))
	require.NotEqual(t, s, e.State(0), "seat 0's agent has moved")
	s.Step(env.Alone(0, s.Legal(0, nil)[0]))
	require.NoError(t, put(e, 1, s))
	require.Equal(t, s, e.State(1))
	require.NoError(t, e.Observe(out))
	require.Equal(t, []uint8{1, vec.NoSeat, 1, vec.NoSeat}, out.Seat)
}
