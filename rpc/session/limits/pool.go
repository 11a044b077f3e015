package limits

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"blockyard/rpc/wire"
)

// A Pool is the memory of messages: of requests, from the first byte that arrives until the request is answered, or of
// responses, from when they are built until the client has taken them. Every connection has a share of its own that
// nobody else can use up; what it needs beyond that comes from the pool. What has no room waits, the shortest first,
// and also if the rest is needed so that the requests that are arriving can be completed one after another (the
// banker's algorithm), since they would wait for each other. Meanwhile, of the connections that are to blame, the one
// that holds the most is cut, not the one that happens to ask.
type Pool struct {
	share    int64                               // bytes that each connection has
	most     int64                               // bytes of the pool
	every    time.Duration                       // how often somebody is cut while others wait
	patience time.Duration                       // how long a connection waits
	blame    func(h *Holding, at time.Time) bool // whether h may be cut
	full     func(asked int64) error             // the error for those that get no room

	mu      sync.Mutex
	held    int64
	taken   int64                 // part of held: what is beyond the shares
	owed    int64                 // of all together
	holders map[*Holding]struct{} // those that hold or owe something
	waiting []*waiter             // the shortest first, then in order
}

// shares is the part of MaxBuffered that is divided among the sessions: one in so many bytes.
const shares = 6

// newRequests returns the pool of requests. All are to blame once one has waited for as long as it may take to arrive.
func newRequests(l *Limits) *Pool {
	share := min(l.MaxBuffered/shares/int64(max(1, l.MaxSessions)), Control)
	return &Pool{share: share, most: l.MaxBuffered - share*int64(l.MaxSessions), every: l.FrameTimeout,
		patience: math.MaxInt64, holders: map[*Holding]struct{}{},
		blame: func(*Holding, time.Time) bool { return true },
		full: func(int64) error {
			return wire.Exceeds("max_buffered", l.MaxBuffered, l.MaxBuffered+1, "--max-buffered").Recode(wire.TooLarge, 0)
		}}
}

// stall is how long a client may take nothing of its response while others wait for room.
const stall = time.Second

// newReplies returns the pool of responses. Those clients are to blame that do not take theirs.
func newReplies(l *Limits) *Pool {
	return &Pool{most: l.MaxReplies, every: stall / 8, patience: l.FrameTimeout,
		holders: map[*Holding]struct{}{},
		blame: func(h *Holding, at time.Time) bool {
			since := func(then int64) time.Duration { return time.Duration(at.UnixNano() - then) }
			began := h.began.Load()
			return began != 0 && (since(h.moved.Load()) >= stall || since(began) >= l.FrameTimeout)
		},
		full: func(asked int64) error {
			return wire.Exceeds("max_replies", l.MaxReplies, asked, "--max-replies").Recode(wire.Busy, 50)
		}}
}

// Held returns how many bytes the messages of all connections take now.
func (p *Pool) Held() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// Taken returns the bytes taken from the pool and its size: without each connection's own share.
func (p *Pool) Taken() (taken, most int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken, p.most
}

// A Holding is what one connection holds of a pool. Only one goroutine at a time makes it grow.
type Holding struct {
	of   *Pool
	end  func()        // ends the connection
	cut  chan struct{} // closed when it is to end
	held int64         // guarded by of.mu
	owed int64         // bytes that the request which is arriving will need beyond them; guarded by of.mu

	// When the request began to arrive or the client to take the response, and when it last took a part of that, in Unix
	// nanoseconds; 0 for not yet.
	began, moved atomic.Int64
}

// Holding returns what a new connection holds: nothing. end must end the connection without waiting.
func (p *Pool) Holding(end func()) *Holding {
	return &Holding{of: p, end: end, cut: make(chan struct{})}
}

// Cut reports whether the connection holds too much and ends.
func (h *Holding) Cut() bool {
	select {
	case <-h.cut:
		return true
	default:
		return false
	}
}

// Exceeds is the error for a connection that was cut.
func (h *Holding) Exceeds() error { return h.of.full(0) }

// Began notes that a request or a response begins to be transferred.
func (h *Holding) Began() { h.Moved(); h.began.Store(h.moved.Load()) }

// Moved notes that a part of the request or response has been transferred, now.
func (h *Holding) Moved() { h.moved.Store(time.Now().UnixNano()) }

// Grow counts n bytes more of a request, which will need owed bytes beyond them, if there is room and the connection
// then holds at most so many beyond its share.
func (h *Holding) Grow(n, owed, most int64) bool {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	return h.grow(n, owed, most)
}

// Try counts n bytes of a response being built, until Release, or fails if there is no room.
func (h *Holding) Try(n int) error {
	p := h.of
	h.began.Store(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !h.grow(int64(n), 0, math.MaxInt64) {
		return p.full(p.held + int64(n))
	}
	return nil
}

// Reserve is Try, but waits for room, unless h holds something already. It fails if there never is enough, if it has
// waited for too long, and at the end of ctx.
func (h *Holding) Reserve(ctx context.Context, n int) error {
	err := h.Try(n)
	if err == nil || h.held > 0 || int64(n) > h.of.most {
		return err
	}
	return h.Await(ctx, int64(n), 0, math.MaxInt64)
}

// grow is Grow. The caller holds mu.
func (h *Holding) grow(n, owed, most int64) bool {
	p, held, owes := h.of, h.held, h.owed
	h.held, h.owed = held+n, owed
	more := p.beyond(h.held) - p.beyond(held)
	if h.held-p.share > most || more > 0 && (p.taken+more > p.most || !p.completes(h)) {
		h.held, h.owed = held, owes
		return false
	}
	p.held, p.taken, p.owed = p.held+n, p.taken+more, p.owed+owed-owes
	p.holders[h] = struct{}{}
	return true
}

// Free gives n bytes back.
func (h *Holding) Free(n int64) {
	p := h.of
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken -= p.beyond(h.held) - p.beyond(h.held-n)
	p.held -= n
	h.held -= n
	h.forget()
	p.grant()
}

// Release gives everything back.
func (h *Holding) Release() {
	if h.held == 0 { // as after most steps. Nobody else changes it now
		return
	}
	h.Free(h.held)
}

// Settle has a connection owe nothing.
func (h *Holding) Settle() {
	p := h.of
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owed -= h.owed
	h.owed = 0
	h.forget()
}

// forget takes h out of the holders if it holds and owes nothing. The caller holds mu.
func (h *Holding) forget() {
	if h.held == 0 && h.owed == 0 {
		delete(h.of.holders, h)
	}
}

// beyond is the part of bytes held that comes from the pool.
func (p *Pool) beyond(held int64) int64 { return max(0, held-p.share) }

// completes reports whether the pool suffices to complete all requests that are arriving, h's among them, in some
// order, each answered and its memory given back before the next. The caller holds mu.
func (p *Pool) completes(h *Holding) bool {
	if p.owed == 0 && h.owed == 0 { // as with responses
		return true
	}
	arriving, free := []*Holding{h}, p.most-p.beyond(h.held)
	for other := range p.holders {
		if other != h && other.owed > 0 {
			arriving, free = append(arriving, other), free-p.beyond(other.held)
		}
	}
	needs := func(h *Holding) int64 { return p.beyond(h.held+h.owed) - p.beyond(h.held) }
	slices.SortFunc(arriving, func(x, y *Holding) int { return cmp.Compare(needs(x), needs(y)) })
	for _, h := range arriving {
		if needs(h) > free {
			return false
		}
		free += p.beyond(h.held)
	}
	return true
}

// grant gives room to those that wait and for which there is some. The caller holds mu.
func (p *Pool) grant() {
	p.waiting = slices.DeleteFunc(p.waiting, func(w *waiter) bool {
		ok := w.of.grow(w.n, w.owed, w.most)
		if ok {
			close(w.ready)
		}
		return ok
	})
}

// A waiter waits for room as Await says.
type waiter struct {
	of            *Holding
	n, owed, most int64
	ready         chan struct{}
}

// Await is Grow, but waits for room. It fails if the connection is cut, after too long, and at the end of ctx.
func (h *Holding) Await(ctx context.Context, n, owed, most int64) error {
	p, w := h.of, &waiter{h, n, owed, most, make(chan struct{})}
	p.mu.Lock()
	at, _ := slices.BinarySearchFunc(p.waiting, n+1, func(w *waiter, n int64) int { return cmp.Compare(w.n, n) })
	p.waiting = slices.Insert(p.waiting, at, w)
	p.grant()
	p.mu.Unlock()
	tick, limit := time.NewTicker(p.every), time.NewTimer(p.patience)
	defer tick.Stop()
	defer limit.Stop()
	var err error
	for err == nil {
		select {
		case <-w.ready:
			return nil
		case now := <-tick.C:
			if found := p.victim(w, now); found == h {
				err = h.Exceeds()
			} else if found != nil {
				found.end()
			}
		case <-h.cut:
			err = h.Exceeds()
		case <-limit.C:
			err = p.full(p.Held() + n)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at = slices.Index(p.waiting, w); at < 0 { // it has just got its room
		return nil
	}
	p.waiting = slices.Delete(p.waiting, at, at+1)
	return err
}

// victim returns, of those that are to blame while w waits, the one that holds the most, or as much and for longer. It
// is cut, unless it is the one that waits. There is none as long as one that was cut has not given back what it holds.
func (p *Pool) victim(w *waiter, now time.Time) (found *Holding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.waiting, w) { // it has just got its room
		return nil
	}
	if p.blame(w.of, now) {
		found = w.of
	}
	for other := range p.holders {
		switch {
		case other.Cut() && other.held > 0:
			return nil
		case other.Cut() || !p.blame(other, now):
		case found == nil || other.held > found.held || other.held == found.held && other.began.Load() < found.began.Load():
			found = other
		}
	}
	if found != nil && found != w.of {
		close(found.cut)
	}
	return found
}
