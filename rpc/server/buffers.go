package server

import (
	"sync"
	"time"

	"blockyard/rpc/wire"
)

// Buffers are the memory of requests, from the first byte that arrives until the request is answered. Every session
// has a share of its own that nobody else can use up; what it needs beyond that comes from a pool. If the pool is
// empty, the session is not read from until others are answered. If that lasts for longer than a request may take to
// arrive, the session that holds the most loses its connection, not the one that happens to ask.
type buffers struct {
	mu      sync.Mutex
	share   int64 // bytes that each session has
	most    int64 // bytes of the pool
	pool    int64 // bytes taken from it
	changed chan struct{}
}

// shares is the part of MaxBuffered that is divided among the sessions: one in so many bytes.
const shares = 6

func newBuffers(l *Limits) *buffers {
	share := min(l.MaxBuffered/shares/int64(max(1, l.MaxSessions)), maxControl)
	return &buffers{share: share, most: l.MaxBuffered - share*int64(l.MaxSessions), changed: make(chan struct{})}
}

// move changes what a session holds from *held to *held+n, or changes nothing and returns false if that exceeds most or
// the pool has too little. It also returns a channel that is closed once somebody frees memory.
func (b *buffers) move(held *int64, n, most int64) (ok bool, changed chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := *held + n
	more := max(0, now-b.share) - max(0, *held-b.share)
	if n > 0 && (now > most || more > 0 && b.pool+more > b.most) {
		return false, b.changed
	}
	*held = now
	b.pool += more
	if n < 0 {
		b.wake()
	}
	return true, nil
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

// hold counts n more bytes of a request being received. The smaller buffer they replace is garbage.
func (s *session) hold(n int) error {
	srv := s.srv
	srv.garbage.Add(int64(n))
	srv.collect()
	most := srv.buffers.share + int64(max(srv.limits.MaxMessage, maxControl, int(s.stepLimit.Load())))
	ok, changed := srv.buffers.move(&s.held, int64(n), most)
	if !ok {
		_ = s.conn.SetReadDeadline(time.Time{}) // time spent waiting for others does not count
		if err := s.awaitRoom(int64(n), most, changed); err != nil {
			return err
		}
		_ = s.conn.SetReadDeadline(time.Now().Add(srv.limits.FrameTimeout))
	}
	srv.buffered.Add(int64(n))
	return nil
}

// awaitRoom is move, but waits for others to free memory. After FrameTimeout, the session that
// holds the most loses its connection: this one, unless another holds more.
func (s *session) awaitRoom(n, most int64, changed chan struct{}) error {
	srv := s.srv
	limit := time.NewTimer(srv.limits.FrameTimeout)
	defer limit.Stop()
	for ok := false; !ok; {
		select {
		case <-changed:
		case <-limit.C:
			if ok, _ = srv.buffers.move(&s.held, n, most); ok {
				return nil
			}
			if !srv.cutGreediest(s) {
				return srv.exceedsBuffered()
			}
			limit.Reset(srv.limits.FrameTimeout)
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		if s.cut.Load() {
			return srv.exceedsBuffered()
		}
		ok, changed = srv.buffers.move(&s.held, n, most)
	}
	return nil
}

func (s *Server) exceedsBuffered() error {
	most := s.limits.MaxBuffered
	return wire.Exceeds("max_buffered", most, most+1, "--max-buffered").Recode(wire.TooLarge, 0)
}

// greedier reports whether s holds more than other, or as much and for longer. The caller holds buffers.mu.
func (s *session) greedier(other *session) bool {
	return s.held > other.held || s.held == other.held && s.began.Load() < other.began.Load()
}

// cutGreediest ends the session that holds the most. It returns false if that is than, or if than has been ended
// itself. It ends none as long as one that was ended has not given back what it holds.
func (s *Server) cutGreediest(than *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffers.mu.Lock()
	defer s.buffers.mu.Unlock()
	if than.cut.Load() {
		return false
	}
	var most *session
	for other := range s.sessions {
		switch cut := other.cut.Load(); {
		case cut && other.held > 0:
			return true
		case !cut && (most == nil || other.greedier(most)):
			most = other
		}
	}
	if most == nil || most == than {
		return false
	}
	most.cut.Store(true)
	_ = most.conn.SetReadDeadline(time.Unix(1, 0)) // wakes what reads
	s.buffers.wake()
	return true
}

// unhold counts n bytes less.
func (s *session) unhold(n int) {
	if n > 0 {
		s.srv.buffers.move(&s.held, int64(-n), 0)
		s.srv.buffered.Add(int64(-n))
	}
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
