package match

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// waitAfter is p in the first units of a match. In all later ones its agents do nothing until
// the context ends, so that a match that is cancelled cannot get further.
func waitAfter(p Player, seed uint64, units, streams int) Player {
	early := map[uint64]bool{}
	for i := range uint64(units) {
		for stream := range uint64(streams) {
			early[env.Derive(env.Derive(seed, i)^agentStream, stream)] = true
		}
	}
	return Player{Name: p.Name, New: func(seed uint64) (env.Agent, error) {
		if early[seed] {
			return p.New(seed)
		}
		return acts(func(ctx context.Context, _ env.State, _ int) (env.Action, error) {
			<-ctx.Done()
			return env.None, ctx.Err()
		}), nil
	}}
}

func TestInOrderYieldsInOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 4, 200, math.MaxInt} {
		last := make(chan struct{})
		next := 0
		for v, err := range InOrder(t.Context(), workers, 100, func(_ context.Context, i int) (int, error) {
			if workers > 1 { // the first result of all is ready after the second
				switch i {
				case 0:
					<-last
				case 1:
					close(last)
				}
			}
			return i * i, nil
		}) {
			require.NoError(t, err)
			require.Equal(t, next*next, v)
			next++
		}
		require.Equal(t, 100, next)
	}
}

func TestInOrderEndsAfterTheFirstError(t *testing.T) {
	bad := errors.New("bad")
	var got []int
	var errs []error
	for v, err := range InOrder(t.Context(), 3, 100, func(_ context.Context, i int) (int, error) {
		if i >= 5 {
			return 0, bad
		}
		return i, nil
	}) {
		got, errs = append(got, v), append(errs, err)
	}
	require.Equal(t, []int{0, 1, 2, 3, 4, 0}, got)
	require.Equal(t, []error{nil, nil, nil, nil, nil, bad}, errs)
}

// Leaving the loop cancels the work in progress and waits for it.
func TestInOrderLeavesNoWorkBehind(t *testing.T) {
	var running atomic.Int64
	for range InOrder(t.Context(), 4, 1000, func(ctx context.Context, i int) (int, error) {
		running.Add(1)
		defer running.Add(-1)
		if i > 0 {
			<-ctx.Done()
		}
		return i, ctx.Err()
	}) {
		break
	}
	require.Zero(t, running.Load())
}

func TestInOrderEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range InOrder(ctx, 3, 1000, func(ctx context.Context, i int) (int, error) {
		if i > 6 {
			<-ctx.Done()
		}
		return i, ctx.Err()
	}) {
		require.NoError(t, err)
		if n++; n == 4 {
			cancel()
		}
	}
	require.GreaterOrEqual(t, n, 4)
	require.LessOrEqual(t, n, 7)
}
