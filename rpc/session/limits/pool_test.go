package limits

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
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
		var refusal *wire.Error
		require.True(t, errors.As(err, &refusal))
		require.Equal(t, wire.Busy, refusal.Code)
	}
	busy(a.Reserve(t.Context(), 101))
	require.NoError(t, a.Reserve(t.Context(), 60))
	busy(a.Reserve(t.Context(), 60))
	require.ErrorIs(t, b.Reserve(envtest.Stopped(t), 60), context.Canceled)
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

// The least limit of a control group and of those above it counts, in both versions.
func TestControlGroups(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		groups string
		files  fstest.MapFS
		want   int64
	}{
		{"", fstest.MapFS{}, Unlimited},
		{"0::/\n", fstest.MapFS{"sys/fs/cgroup/memory.max": file("2147483648\n")}, 2 << 30},
		{"0::/a/b\n", fstest.MapFS{"sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/memory.max": file("5\n"),
			"sys/fs/cgroup/memory.max": file("7\n")}, 5},
		{"0::/../elsewhere\n", fstest.MapFS{"sys/fs/cgroup/memory.max": file("9\n")}, 9},
		{"5:cpu:/x\n4:memory:/m\n0::/x\n", fstest.MapFS{"sys/fs/cgroup/memory/m/memory.limit_in_bytes": file("11\n")}, 11},
		{"nonsense\n0::/\n", fstest.MapFS{"sys/fs/cgroup/memory.max": file("nonsense\n")}, Unlimited},
	} {
		c.files["proc/self/cgroup"] = file(c.groups)
		require.Equal(t, c.want, cgroupMemory(c.files), "%q", c.groups)
	}
	require.Equal(t, Unlimited, cgroupMemory(fstest.MapFS{}))
}

// What fits leaves room for what a process takes beyond it: a tenth more or 64 MiB.
func TestMemoryThatFits(t *testing.T) {
	for _, most := range []int64{256 << 20, 512 << 20, 1 << 30, 2 << 30, 64 << 30} {
		fits := fitting(most)
		require.Less(t, fits+max(64<<20, fits/10), most)
		require.GreaterOrEqual(t, fits, most/2)
	}
	require.Equal(t, int64(3<<29), fitting(2<<30))
}

// More memory than fits is allowed and warned of.
func TestMoreMemoryThanFitsWarns(t *testing.T) {
	fits, bound := Fitting()
	warned := func(most int64) string {
		var lines bytes.Buffer
		l := DefaultLimits()
		l.MaxMemory = most
		l.Fit(slog.New(slog.NewTextHandler(&lines, nil)))
		require.Equal(t, most, l.MaxMemory)
		return lines.String()
	}
	require.NotContains(t, warned(fits), "--max-memory")
	envtest.Has(t, warned(fits+1), "--max-memory", bound)
	require.NotContains(t, warned(Unlimited), "--max-memory", "who wants no limit knows that there is none")
}

// A ledger is idle from its beginning, or the end of its last session, until a session begins. Games do not matter.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(DefaultLimits(), nil)
		time.Sleep(time.Minute)
		require.Equal(t, time.Minute, l.Idle())
		a, b := l.Tab(nil), l.Tab(nil)
		require.NoError(t, a.Take(SessionUse))
		require.NoError(t, b.Take(SessionUse))
		a.Close()
		time.Sleep(time.Minute)
		require.Zero(t, l.Idle())
		b.Close()
		time.Sleep(time.Minute)
		require.NoError(t, a.Take(Use{Handles: 1, Envs: 1}))
		a.Close()
		require.Equal(t, time.Minute, l.Idle())
	})
}
