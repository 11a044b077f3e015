package match

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// TestProve: a record proves the points and ranks of its game, and no others. Where the rules decide nothing, the
// contest may, if it has a reason.
func TestProve(t *testing.T) {
	f := envtest.Must(bots.New(blocking.Game, bots.Foreign("random", nil)))
	played := func(enough func(env.State) bool) *record.Record {
		g := Game{Rules: blocking.Game, Seed: 3, Enough: enough}
		for k := range uint64(3) {
			a := envtest.Must(f(k))
			g.Names, g.Agents = append(g.Names, "random"), append(g.Agents, a)
		}
		return envtest.Must(Play(t.Context(), g))
	}
	never := func(int, int) bool { return false }
	rec := played(nil)
	points, ranks := rec.Scores, contest.Ranks(rec.Scores)
	require.NoError(t, Prove(blocking.Game, rec, points, ranks, never))
	for says, c := range map[string][2][]int{
		"points, ":      {{points[0] + 1, points[1], points[2]}, ranks},
		"the ranks ":    {points, {ranks[1], ranks[0], ranks[2]}},
		"3 seats, want": {points[:2], ranks},
		"ranks 1 and 1": {points, {1, 1, 1}},
	} {
		require.ErrorContains(t, Prove(blocking.Game, rec, c[0], c[1], func(int, int) bool { return true }), says)
	}
	other := *rec
	other.Scores = slices.Clone(rec.Scores)
	other.Scores[0]++
	require.ErrorIs(t, Prove(blocking.Game, &other, points, ranks, never), record.ErrDiffers)

	steps := 0
	rec = played(func(env.State) bool { steps++; return steps > 9 })
	require.True(t, rec.Stopped)
	require.NoError(t, Prove(blocking.Game, rec, rec.Scores, []int{1, 1, 1}, never))
	require.ErrorContains(t, Prove(blocking.Game, rec, rec.Scores, []int{1, 1, 2}, never), "have the ranks 1 and 2")
	require.NoError(t, Prove(blocking.Game, rec, rec.Scores, []int{1, 1, 2}, func(loser, _ int) bool { return loser == 2 }))
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
