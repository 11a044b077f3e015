package limits

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
)

// A response that waits gets its room before longer ones that have waited for longer, and all get theirs.
func TestTheShortestReplyIsFirst(t *testing.T) {
	r := newReplies(&Limits{MaxReplies: 100, FrameTimeout: time.Hour})
	sender := func() *Holding { return r.Holding(func() { t.Error("cut") }) }
	holder := sender()
	require.NoError(t, holder.Try(90))
	got := make(chan int)
	for k, n := range []int{80, 60, 70, 60} {
		s := sender()
		go func() {
			if s.Reserve(t.Context(), n) == nil {
				got <- n
				s.Release()
			}
		}()
		require.Eventually(t, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.waiting) == k+1
		}, time.Minute, time.Millisecond)
	}
	holder.Release()
	for _, want := range []int{60, 60, 70, 80} {
		require.Equal(t, want, <-got)
	}
	require.Eventually(t, func() bool { return r.Held() == 0 }, time.Minute, time.Millisecond)
}

// Those that hold something do not wait, nor what never fits; those that wait stop at the end of their session.
func TestRepliesThatDoNotWait(t *testing.T) {
	r := newReplies(&Limits{MaxReplies: 100, FrameTimeout: time.Hour})
	a, b := r.Holding(nil), r.Holding(nil)
	busy := func(err error) {
		t.Helper()
		var refusal *wire.Error
		require.True(t, errors.As(err, &refusal))
		require.Equal(t, wire.Busy, refusal.Code)
	}
	busy(a.Reserve(t.Context(), 101))
	require.NoError(t, a.Reserve(t.Context(), 60))
	busy(a.Reserve(t.Context(), 60))
	ctx, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, b.Reserve(ctx, 60), context.Canceled)
	require.Empty(t, r.waiting)
	require.Equal(t, int64(60), r.Held())
}

// Of the clients that take nothing, or take too long, the one that holds most is ended, and no other until it has given
// back what it holds. One whose response is being built is not to blame.
func TestDeafClientsAreEnded(t *testing.T) {
	r := newReplies(&Limits{MaxReplies: 100, FrameTimeout: 10 * time.Second})
	at := time.Unix(1000, 0)
	holder := func(n int, began, moved time.Duration) *Holding {
		s := r.Holding(nil)
		require.NoError(t, s.Try(n))
		s.began.Store(at.Add(-began).UnixNano())
		s.moved.Store(at.Add(-moved).UnixNano())
		return s
	}
	require.NoError(t, r.Holding(nil).Try(50)) // being built
	holder(20, 9*time.Second, stall/2)
	waits := &waiter{of: r.Holding(nil), n: 101}
	r.waiting = append(r.waiting, waits)
	small, large := holder(5, stall, stall), holder(6, 2*stall, stall)
	slow := holder(7, 10*time.Second, 0)
	for _, want := range []*Holding{slow, large, small} {
		require.Same(t, want, r.victim(waits, at))
		require.Nil(t, r.victim(waits, at))
		want.Release()
	}
	require.Nil(t, r.victim(waits, at))
}
