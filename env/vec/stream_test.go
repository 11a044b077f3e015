package vec_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// streamOf starts the Stream of e.
func streamOf(e *vec.Env, out *vec.Batch) *vec.Stream {
	return envtest.Must(e.Stream(out))
}

// numbers lists the numbers below n.
func numbers(n int) (all []uint32) {
	for i := range n {
		all = append(all, uint32(i))
	}
	return all
}

// randomly returns actions that stand for random ones under vec.Random.
func randomly(n int) []env.Action { return slices.Repeat([]env.Action{env.None - 1}, n) }

// received waits until so many environments are done, and returns all that are.
func received(s *vec.Stream, n int) []uint32 {
	<-s.Await(n)
	return envtest.Must(s.Recv(nil, 1<<20))
}

// While the agent of one environment thinks, the others are stepped as often as the caller likes.
func TestStreamWaitsForNobody(t *testing.T) {
	gate := make(chan struct{})
	var made atomic.Int32
	agents := []vec.AgentFactory{nil, func(seed uint64) (env.Agent, error) {
		if made.Add(1) > 1 {
			return newDie(seed)
		}
		return acting(func(_ context.Context, s env.State, seat int) (env.Action, error) {
			<-gate
			return s.Legal(seat, nil)[0], nil
		}), nil
	}}
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 4, Workers: 2, Agents: agents, Illegal: vec.Random})
	stream := streamOf(e, out)
	require.NoError(t, stream.Send(numbers(4), randomly(4)))
	others := received(stream, 3)
	for range 20 {
		require.Len(t, others, 3)
		require.NoError(t, stream.Send(others, randomly(3)))
		got := received(stream, 3)
		require.ElementsMatch(t, others, got)
	}
	close(gate)
	require.Len(t, received(stream, 1), 1)
}

func TestStreamRefuses(t *testing.T) {
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 2})
	stream := streamOf(e, out)
	_, err := e.Stream(out)
	require.ErrorContains(t, err, "want one per Env")
	before := positions(e)
	pair := []env.Action{env.None, env.None}
	require.ErrorContains(t, stream.Send([]uint32{3}, pair), "environment 3 of 3")
	require.ErrorContains(t, stream.Send([]uint32{1}, pair[:1]), "1 actions for 1 environments, want 2 each")
	require.ErrorContains(t, stream.Send([]uint32{1, 1}, append(pair, pair...)), "environment 1 is named twice")
	var blamed *vec.EnvError
	require.ErrorAs(t, stream.Send([]uint32{2, 1}, []env.Action{env.None, env.None, env.None, 999}), &blamed)
	require.ErrorIs(t, blamed, env.ErrIllegal)
	require.Equal(t, []int{1}, blamed.Envs)
	require.Equal(t, 1, blamed.Row)
	require.Equal(t, before, positions(e))
	require.NoError(t, stream.Send([]uint32{1}, pair))
	require.ErrorContains(t, stream.Send([]uint32{0, 1}, append(pair, pair...)), "environment 1 was sent before")
	stream.Settle()
	require.ErrorContains(t, stream.Send([]uint32{1}, pair), "environment 1 was sent before")
	require.Equal(t, []uint32{1}, envtest.Must(stream.Recv(nil, 3)))
	require.NoError(t, stream.Send([]uint32{1, 0}, append(pair, pair...)))
	stream.Drop()
	require.Empty(t, envtest.Must(stream.Recv(nil, 3)))
	require.NoError(t, stream.Send([]uint32{0, 1, 2}, append(append(pair, pair...), pair...)))
	require.NoError(t, e.Close())
	require.ErrorContains(t, stream.Send([]uint32{0}, pair), "closed")

	d, out, _ := start(t, toy.Pick, vec.Config{Envs: 2, StepLimit: 1, Autoreset: vec.Disabled})
	stream = streamOf(d, out)
	require.NoError(t, stream.Send([]uint32{1}, pair))
	received(stream, 1)
	require.ErrorIs(t, stream.Send([]uint32{0, 1}, append(pair, pair...)), vec.ErrNeedsReset)
}

func TestStreamAllocatesNothing(t *testing.T) {
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 32, Workers: 2, Illegal: vec.Random})
	s, all, actions := streamOf(e, out), numbers(32), randomly(64)
	allocatesNothing(t, func() error {
		err := s.Send(all, actions)
		for all = all[:0]; len(all) < 32 && err == nil; {
			<-s.Await(1)
			all, err = s.Recv(all, 8)
		}
		return err
	})
}

// contests are the games without their variants.
func contests() []*env.Game {
	var out []*env.Game
	for _, g := range games.All {
		if !strings.Contains(g.Name, ":") {
			out = append(out, g)
		}
	}
	return out
}
