package match

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	type result struct {
		value int
		err   error
	}
	var got []result
	for v, err := range InOrder(t.Context(), 3, 100, func(_ context.Context, i int) (int, error) {
		if i >= 5 {
			return 0, bad
		}
		return i, nil
	}) {
		got = append(got, result{v, err})
	}
	require.Equal(t, []result{{0, nil}, {1, nil}, {2, nil}, {3, nil}, {4, nil}, {0, bad}}, got)
}

// Leaving the loop, or the end of the context, cancels the work in progress. None outlives the loop.
func TestInOrderEnds(t *testing.T) {
	for _, leave := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		var running atomic.Int64
		n := 0
		for _, err := range InOrder(ctx, 3, 1000, func(ctx context.Context, i int) (int, error) {
			running.Add(1)
			defer running.Add(-1)
			if i > 6 {
				<-ctx.Done()
			}
			return i, ctx.Err()
		}) {
			require.NoError(t, err)
			if n++; n == 4 && leave {
				break
			} else if n == 4 {
				cancel()
			}
		}
		cancel()
		require.Zero(t, running.Load())
		require.True(t, n == 4 || !leave && n > 4 && n <= 7, "%d results", n)
	}
}
