package server

import (
	"cmp"
	"slices"
	"sync"

	"blockyard/rpc/wire"
)

// Buffers are the memory of requests, from the first byte that arrives until the request is answered. Every session
// has a share of its own that nobody else can use up; what it needs beyond that comes from a pool. If the pool is
// empty, the session is not read from until others are answered; nor if the rest of the pool is needed so that the
// requests that are arriving can be completed one after another (the banker's algorithm), since they would wait for
// each other. If that lasts for longer than a request may take to arrive, the session that holds the most loses its
// connection, not the one that happens to ask.
type buffers struct {
	mu       sync.Mutex
	share    int64 // bytes that each session has
	most     int64 // bytes of the pool
	pool     int64 // bytes taken from it
	changed  chan struct{}
	arriving map[*claim]struct{} // those that owe
}

// A claim is what a session holds and needs. buffers.mu guards it.
type claim struct {
	held int64 // bytes of its frames
	owed int64 // bytes that the request which is arriving will need beyond them
}

// shares is the part of MaxBuffered that is divided among the sessions: one in so many bytes.
const shares = 6

func newBuffers(l *Limits) *buffers {
	share := min(l.MaxBuffered/shares/int64(max(1, l.MaxSessions)), maxControl)
	return &buffers{share: share, most: l.MaxBuffered - share*int64(l.MaxSessions), changed: make(chan struct{}),
		arriving: map[*claim]struct{}{}}
}

// grow has a session hold n more bytes, and owe so many. It changes nothing and returns false if the session would
// hold more than most, the pool has too little, or others need the rest of it; then it also returns a channel that is
// closed once somebody frees memory.
func (b *buffers) grow(c *claim, n, owed, most int64) (ok bool, changed chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := *c
	*c = claim{was.held + n, owed}
	more := b.beyond(c.held) - b.beyond(was.held)
	if c.held > most || more > 0 && (b.pool+more > b.most || !b.completes(c)) {
		*c = was
		return false, b.changed
	}
	b.pool += more
	b.note(c)
	return true, nil
}

// free has a session hold n bytes less.
func (b *buffers) free(c *claim, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pool += b.beyond(c.held-n) - b.beyond(c.held)
	c.held -= n
	b.wake()
}

// settle has a session owe nothing.
func (b *buffers) settle(c *claim) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.owed = 0
	b.note(c)
}

// note keeps arriving as it should be. The caller holds mu.
func (b *buffers) note(c *claim) {
	if c.owed > 0 {
		b.arriving[c] = struct{}{}
	} else {
		delete(b.arriving, c)
	}
}

// beyond is the part of bytes held that comes from the pool.
func (b *buffers) beyond(held int64) int64 { return max(0, held-b.share) }

// completes reports whether the pool suffices to complete all requests that are arriving, c's among them, in some
// order, each answered and its memory given back before the next. The caller holds mu.
func (b *buffers) completes(c *claim) bool {
	claims := append(make([]*claim, 0, len(b.arriving)+1), c)
	free := b.most - b.beyond(c.held)
	for other := range b.arriving {
		if other != c {
			claims, free = append(claims, other), free-b.beyond(other.held)
		}
	}
	needs := func(c *claim) int64 { return b.beyond(c.held+c.owed) - b.beyond(c.held) }
	slices.SortFunc(claims, func(x, y *claim) int { return cmp.Compare(needs(x), needs(y)) })
	for _, c := range claims {
		if needs(c) > free {
			return false
		}
		free += b.beyond(c.held)
	}
	return true
}

// wake lets those that wait try again. The caller holds mu.
func (b *buffers) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// taken returns the bytes taken from the pool.
func (b *buffers) taken() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pool
}

// frame returns a frame to read into: the most recently used one, which is likely to be in cache.
func (s *session) frame() *wire.Frame {
	s.freeMu.Lock()
	defer s.freeMu.Unlock()
	n := len(s.free)
	if n == 0 {
		return &wire.Frame{}
	}
	f := s.free[n-1]
	s.free = s.free[:n-1]
	return f
}

// recycle keeps a frame for the next request, and its memory if it is that of a step: the session may keep as much as
// its handles need for one step each, which is part of their memory. All other memory is given back.
func (s *session) recycle(f *wire.Frame) {
	s.freeMu.Lock()
	defer s.freeMu.Unlock()
	more := f.Cap() - f.Kept
	name := string(f.Method)
	switch {
	case f.Kept > 0 && s.kept > s.keep: // of a handle that was closed in the meantime
		s.release(f)
		s.countKept()
	case more <= 0 || f.Kept == 0 && f.Held() == 0:
	case (name == "step" || name == "send") && s.kept+more <= s.keep:
		s.kept += more
		f.Kept += more
		s.unhold(f.Settle())
	default:
		s.release(f)
	}
	s.free = append(s.free, f)
}

// release drops a frame's memory. The caller holds freeMu, or is the last to use the session.
func (s *session) release(f *wire.Frame) {
	s.kept -= f.Kept
	s.srv.garbage.Add(int64(f.Cap()))
	s.unhold(f.Drop())
}

// countKept accounts for memory that is kept although its handle is closed: that of the frame into which the next
// request is read. The caller holds freeMu, or is the last to use the session.
func (s *session) countKept() {
	over := int64(max(0, s.kept-s.keep))
	s.linger(over - s.over)
	s.over = over
}

// sizeSteps sets the length limit of step requests: four times what the largest handle needs, so that
// a request of a wrong length gets an error instead of losing the connection. It also sets how much memory of
// requests the session may keep.
func (s *session) sizeSteps() {
	most, keep := 0, 0
	for _, h := range s.handles {
		most = max(most, h.rows)
		keep += wire.SendLen(h.c.Envs, h.rows)
	}
	s.stepLimit.Store(int64(wire.StepHeadLen + 8*most))
	s.freeMu.Lock()
	defer s.freeMu.Unlock()
	s.keep = keep
	for _, f := range s.free {
		if s.kept > s.keep && f.Kept > 0 {
			s.release(f)
		}
	}
	s.countKept()
}
