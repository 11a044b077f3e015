package limits

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"blockyard/rpc/wire"
)

// Replies are the bytes of responses, from when they are built until the client has taken them, and those of dropped
// messages. A response for which there is no room waits, the shortest first. Meanwhile clients that do not take theirs
// lose their connection, as those do that do not complete a request: the one that holds most first.
type Replies struct {
	most     int64
	patience time.Duration // how long a response may wait, or be taken while others wait

	mu       sync.Mutex
	building int64
	senders  map[*Sender]struct{} // those that hold something
	waiting  []*waiter            // the shortest first, then in order

	garbage    atomic.Int64 // since the last collection
	collecting sync.Mutex
}

// stall is how long a client may take nothing of its response while others wait for room.
const stall = time.Second

func newReplies(l *Limits) *Replies {
	return &Replies{most: l.MaxReplies, patience: l.FrameTimeout, senders: map[*Sender]struct{}{}}
}

// A Sender is what one connection holds of Replies. Only one response of a connection is built at a time.
type Sender struct {
	of  *Replies
	cut func() // ends the connection

	held int64 // guarded by of.mu
	gone bool  // it was cut; guarded by of.mu

	// When the client began to take the response, and last took a part, in Unix nanoseconds; 0 for not yet.
	began, moved atomic.Int64
}

// A waiter is a response that waits for room.
type waiter struct {
	sender *Sender
	n      int64
	ready  chan struct{}
}

// Sender returns the sender of a new connection. cut must end the connection without waiting.
func (r *Replies) Sender(cut func()) *Sender { return &Sender{of: r, cut: cut} }

// Began notes that the client is being sent its response; Moved that it has taken a part of it.
func (s *Sender) Began() { s.moved.Store(time.Now().UnixNano()); s.began.Store(s.moved.Load()) }

// Moved is described at Began.
func (s *Sender) Moved() { s.moved.Store(time.Now().UnixNano()) }

// Building returns the bytes of responses being built.
func (r *Replies) Building() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.building
}

// mostGarbage is how many bytes of dropped messages may wait for the garbage collector. On its own
// the collector would let them grow in proportion to the open games.
const mostGarbage = 8 << 20

// Dropped counts n bytes of messages that are not used any more.
func (r *Replies) Dropped(n int) { r.garbage.Add(int64(n)) }

// Collect runs the garbage collector if there is much garbage. Others that need memory wait.
func (r *Replies) Collect() {
	if r.garbage.Load() < mostGarbage {
		return
	}
	r.collecting.Lock()
	defer r.collecting.Unlock()
	if r.garbage.Load() >= mostGarbage {
		runtime.GC()
		r.garbage.Store(0)
	}
}

// Reserve counts n bytes of a response being built, until Release. Unless the sender holds something already, it waits
// for room. It fails if there never is enough, if it has waited for too long, and at the end of ctx.
func (s *Sender) Reserve(ctx context.Context, n int) error {
	if s.Try(n) == nil {
		return nil
	}
	r := s.of
	r.mu.Lock()
	if s.held > 0 || int64(n) > r.most {
		defer r.mu.Unlock()
		return r.busy(int64(n))
	}
	w := &waiter{s, int64(n), make(chan struct{})}
	at, _ := slices.BinarySearchFunc(r.waiting, w.n+1, func(w *waiter, n int64) int { return int(w.n - n) })
	r.waiting = slices.Insert(r.waiting, at, w)
	r.grant()
	r.mu.Unlock()
	return r.await(ctx, w)
}

// Try is Reserve without waiting.
func (s *Sender) Try(n int) error {
	r := s.of
	r.Collect()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.building+int64(n) > r.most {
		return r.busy(int64(n))
	}
	r.take(s, int64(n))
	return nil
}

// take counts n bytes. The caller holds mu.
func (r *Replies) take(s *Sender, n int64) {
	r.building += n
	s.held += n
	s.began.Store(0)
	r.senders[s] = struct{}{}
}

// busy is the error for n bytes more. The caller holds mu.
func (r *Replies) busy(n int64) error {
	return wire.Exceeds("max_replies", r.most, r.building+n, "--max-replies").Recode(wire.Busy, 50)
}

func (r *Replies) await(ctx context.Context, w *waiter) error {
	limit, tick := time.NewTimer(r.patience), time.NewTicker(stall/8)
	defer limit.Stop()
	defer tick.Stop()
	var err error
	for {
		select {
		case <-w.ready:
			return nil
		case now := <-tick.C:
			if deaf := r.deaf(now); deaf != nil {
				deaf.cut()
			}
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-limit.C:
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		at := slices.Index(r.waiting, w)
		if at < 0 { // it has just got its room
			return nil
		}
		r.waiting = slices.Delete(r.waiting, at, at+1)
		if err == nil {
			err = r.busy(w.n)
		}
		return err
	}
}

// deaf returns the sender to end: that which holds most among those whose client does not take its response. There is
// none as long as one that was ended has not given back what it holds.
func (r *Replies) deaf(now time.Time) (found *Sender) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.senders {
		began := s.began.Load()
		since := func(at int64) time.Duration { return time.Duration(now.UnixNano() - at) }
		switch {
		case s.gone:
			return nil
		case began == 0 || since(s.moved.Load()) < stall && since(began) < r.patience:
		case found == nil || s.held > found.held || s.held == found.held && began < found.began.Load():
			found = s
		}
	}
	if found != nil {
		found.gone = true
	}
	return found
}

// Release ends what the sender has reserved.
func (s *Sender) Release() {
	if s.held == 0 { // as after most steps. Nobody else changes it now
		return
	}
	r := s.of
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Dropped(int(s.held))
	r.building -= s.held
	s.held, s.gone = 0, false
	delete(r.senders, s)
	r.grant()
}

// grant gives room to those that wait. The caller holds mu.
func (r *Replies) grant() {
	for len(r.waiting) > 0 && r.building+r.waiting[0].n <= r.most {
		w := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.take(w.sender, w.n)
		close(w.ready)
	}
}
