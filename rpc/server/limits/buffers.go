package limits

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"blockyard/rpc/wire"
)

// Buffers are the memory of requests, from the first byte that arrives until the request is answered. Every session
// has a share of its own that nobody else can use up; what it needs beyond that comes from a pool. If the pool is
// empty, the session is not read from until others are answered; nor if the rest of the pool is needed so that the
// requests that are arriving can be completed one after another (the banker's algorithm), since they would wait for
// each other. If that lasts for longer than a request may take to arrive, the session that holds the most loses its
// connection, not the one that happens to ask.
type Buffers struct {
	mu      sync.Mutex
	share   int64 // bytes that each session has
	most    int64 // bytes of the pool
	pool    int64 // bytes taken from it
	limit   int64 // MaxBuffered, for errors
	changed chan struct{}
	claims  map[*Claim]struct{}
}

// A Claim is what a session holds and needs. Buffers.mu guards it, but for what is atomic.
type Claim struct {
	Began atomic.Int64 // when the request being received began to arrive, in Unix nanoseconds

	held int64 // bytes of its frames
	owed int64 // bytes that the request which is arriving will need beyond them
	cut  atomic.Bool
	wake func() // lets the session notice that it was cut
}

// Cut reports whether the session holds too much and ends.
func (c *Claim) Cut() bool { return c.cut.Load() }

// shares is the part of MaxBuffered that is divided among the sessions: one in so many bytes.
const shares = 6

// NewBuffers returns buffers that nobody holds.
func NewBuffers(l *Limits) *Buffers {
	share := min(l.MaxBuffered/shares/int64(max(1, l.MaxSessions)), Control)
	return &Buffers{share: share, most: l.MaxBuffered - share*int64(l.MaxSessions), limit: l.MaxBuffered,
		changed: make(chan struct{}), claims: map[*Claim]struct{}{}}
}

// Claim returns the claim of a new session. wake is called when the session is cut.
func (b *Buffers) Claim(wake func()) *Claim {
	c := &Claim{wake: wake}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.claims[c] = struct{}{}
	return c
}

// Drop removes the claim of a session that has ended and holds nothing.
func (b *Buffers) Drop(c *Claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.claims, c)
}

// Exceeds is the error for a session that holds too much.
func (b *Buffers) Exceeds() error {
	return wire.Exceeds("max_buffered", b.limit, b.limit+1, "--max-buffered").Recode(wire.TooLarge, 0)
}

// Grow has a session hold n more bytes, and owe so many. It changes nothing and returns false if the session would
// hold more than its share and longest, the pool has too little, or others need the rest of it; then it also returns a
// channel that is closed once somebody frees memory.
func (b *Buffers) Grow(c *Claim, n, owed, longest int64) (ok bool, changed chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held, before := c.held, c.owed
	c.held, c.owed = held+n, owed
	more := b.beyond(c.held) - b.beyond(held)
	if c.held > b.share+longest || more > 0 && (b.pool+more > b.most || !b.completes(c)) {
		c.held, c.owed = held, before
		return false, b.changed
	}
	b.pool += more
	return true, nil
}

// Free has a session hold n bytes less.
func (b *Buffers) Free(c *Claim, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pool += b.beyond(c.held-n) - b.beyond(c.held)
	c.held -= n
	b.announce()
}

// Settle has a session owe nothing.
func (b *Buffers) Settle(c *Claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.owed = 0
}

// greedier reports whether c holds more than other, or as much and for longer. The caller holds mu.
func (c *Claim) greedier(other *Claim) bool {
	return c.held > other.held || c.held == other.held && c.Began.Load() < other.Began.Load()
}

// CutGreediest ends the session that holds the most. It returns false if that is than, or if than has been ended
// itself. It ends none as long as one that was ended has not given back what it holds.
func (b *Buffers) CutGreediest(than *Claim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if than.Cut() {
		return false
	}
	var most *Claim
	for other := range b.claims {
		switch {
		case other.Cut() && other.held > 0:
			return true
		case !other.Cut() && (most == nil || other.greedier(most)):
			most = other
		}
	}
	if most == nil || most == than {
		return false
	}
	most.cut.Store(true)
	most.wake()
	b.announce()
	return true
}

// beyond is the part of bytes held that comes from the pool.
func (b *Buffers) beyond(held int64) int64 { return max(0, held-b.share) }

// completes reports whether the pool suffices to complete all requests that are arriving, c's among them, in some
// order, each answered and its memory given back before the next. The caller holds mu.
func (b *Buffers) completes(c *Claim) bool {
	claims, free := []*Claim{c}, b.most-b.beyond(c.held)
	for other := range b.claims {
		if other != c && other.owed > 0 {
			claims, free = append(claims, other), free-b.beyond(other.held)
		}
	}
	needs := func(c *Claim) int64 { return b.beyond(c.held+c.owed) - b.beyond(c.held) }
	slices.SortFunc(claims, func(x, y *Claim) int { return cmp.Compare(needs(x), needs(y)) })
	for _, c := range claims {
		if needs(c) > free {
			return false
		}
		free += b.beyond(c.held)
	}
	return true
}

// announce lets those that wait try again. The caller holds mu.
func (b *Buffers) announce() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Pool returns the bytes taken from the pool and its size: the limit without each session's own share.
func (b *Buffers) Pool() (taken, most int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pool, b.most
}
