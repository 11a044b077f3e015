package vec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// future plays n steps by the environments' own choices and returns all they wrote.
func future(t *testing.T, e *vec.Env, n int) (all []vec.Batch) {
	actions := make([]env.Action, e.Config().Envs*e.Rows())
	for range n {
		out, err := e.NewBatch()
		require.NoError(t, err)
		play(t, 1, e, actions, out)
		all = append(all, *out)
	}
	return all
}

// A snapshot restored brings back the same future, in the middle of an episode, at its end
// and when it was cut off, with the opponents that were drawn for it.
func TestSnapshotRestore(t *testing.T) {
	for _, g := range []*env.Game{toy.Turns, blockbattle.Game} {
		for name, c := range map[string]vec.Config{
			"driven": {}, "limit": {StepLimit: 11}, "mixture": {Mixtures: []vec.Mixture{nil, {{newLow, 1, 0}, {newMiddle, 1, 1}}}},
		} {
			t.Run(g.Name+"/"+name, func(t *testing.T) {
				c.Envs = 6
				e, now, _ := start(t, g, c)
				_, again, _ := open(t, g, c)
				ended := 0
				for round := range 40 {
					future(t, e, 1+round%3)
					require.NoError(t, e.Observe(now))
					snaps := positions(t, e)
					want := future(t, e, 5)
					for i, snap := range snaps {
						require.Len(t, snap, e.SnapshotLen())
						require.NoError(t, e.Restore(i, snap))
						if e.Ended(i) {
							ended++
						}
					}
					require.NoError(t, e.Observe(again))
					require.Equal(t, now, again)
					require.Equal(t, want, future(t, e, 5))
				}
				require.Positive(t, ended, "some were restored at their end")
			})
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 2})
	snap, err := e.Snapshot(0, []byte("head"))
	require.NoError(t, err)
	snap = snap[4:]
	before := positions(t, e)
	for _, c := range []struct {
		i    int
		snap func(b []byte) []byte
		says string
	}{
		{2, func(b []byte) []byte { return b }, "environment 2 of 2"},
		{-1, func(b []byte) []byte { return b }, "environment -1 of 2"},
		{1, func(b []byte) []byte { return nil }, "snapshot of 0 bytes, want"},
		{1, func(b []byte) []byte { return append(b, 0) }, "bytes, want"},
		{1, func(b []byte) []byte { b[28] = 4; return b }, "unknown flags 04 00 00 00"},
		{1, func(b []byte) []byte { b[32] = 2; return b }, "seat 2 in row 0, want both below 2"},
		{1, func(b []byte) []byte { b[34] = 1; return b }, "seat 1 in row 2"},
		{1, func(b []byte) []byte { b[31] = 1; return b }, "unknown flags"},
		{1, func(b []byte) []byte { b[len(b)-1] = 255; return b }, "Last[3] is 255, want 0 to 3"},
	} {
		require.ErrorContains(t, e.Restore(c.i, c.snap(append([]byte{}, snap...))), c.says)
		require.Equal(t, before, positions(t, e))
	}
}

func FuzzRestore(f *testing.F) {
	e, _, _ := start(f, toy.Turns, vec.Config{Envs: 1, Agents: []vec.AgentFactory{newDie}})
	snap, err := e.Snapshot(0, nil)
	require.NoError(f, err)
	f.Add(snap)
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
	all := func() (all []string) {
		for i, snap := range positions(t, e) {
			all = append(all, fmt.Sprint(e.Opponent(i, 1), snap))
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
	snap, err := e.Snapshot(i, nil)
	if err != nil {
		return err
	}
	if snap, err = env.Encode(snap[:len(snap)-env.EncodedLen(s)], s); err != nil {
		return err
	}
	return e.Restore(i, snap)
}

func TestRestoreAnotherPosition(t *testing.T) {
	e, out, _ := start(t, toy.Turns, vec.Config{Envs: 2, Agents: []vec.AgentFactory{newDie}})
	s := toy.Turns.New(3).(*toy.State)
	s.Step(env.Alone(0, s.Legal(0, nil)[0]))
	require.NoError(t, put(e, 1, s))
	require.Equal(t, s, e.State(1))
	require.Equal(t, 1, e.Seat(1, 0))
	s.Reset(5)
	require.NoError(t, put(e, 1, s))
	require.NotEqual(t, s, e.State(1), "seat 0's agent has moved")
	require.Equal(t, 1, e.Seat(1, 0))
	require.NoError(t, e.Observe(out))
	require.Equal(t, []uint8{1, vec.NoSeat, 1, vec.NoSeat}, out.Seat)
	s.Card = 9
	require.ErrorContains(t, put(e, 1, s), "Card is 9, want 1 to 3")
	require.ErrorContains(t, put(e, 7, s), "environment 7 of 2")
}
