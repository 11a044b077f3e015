package server

import (
	"time"

	"blockyard/rpc/wire"
)

// hold counts n more bytes of a request being received, which will need owed bytes beyond them. The smaller buffer they
// replace is garbage.
func (s *session) hold(n, owed int) error {
	srv := s.srv
	srv.garbage.Add(int64(n))
	srv.collect()
	most := srv.buffers.share + int64(max(srv.limits.MaxMessage, maxControl, int(s.stepLimit.Load())))
	ok, changed := srv.buffers.grow(&s.claim, int64(n), int64(owed), most)
	if !ok {
		_ = s.conn.SetReadDeadline(time.Time{}) // time spent waiting for others does not count
		if err := s.awaitRoom(int64(n), int64(owed), most, changed); err != nil {
			return err
		}
		_ = s.conn.SetReadDeadline(time.Now().Add(srv.limits.FrameTimeout))
	}
	srv.buffered.Add(int64(n))
	return nil
}

// awaitRoom is grow, but waits for others to free memory. After FrameTimeout, the session that
// holds the most loses its connection: this one, unless another holds more.
func (s *session) awaitRoom(n, owed, most int64, changed chan struct{}) error {
	srv := s.srv
	limit := time.NewTimer(srv.limits.FrameTimeout)
	defer limit.Stop()
	for ok := false; !ok; {
		select {
		case <-changed:
		case <-limit.C:
			if ok, _ = srv.buffers.grow(&s.claim, n, owed, most); ok {
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
		ok, changed = srv.buffers.grow(&s.claim, n, owed, most)
	}
	return nil
}

func (s *Server) exceedsBuffered() error {
	most := s.limits.MaxBuffered
	return wire.Exceeds("max_buffered", most, most+1, "--max-buffered").Recode(wire.TooLarge, 0)
}

// greedier reports whether s holds more than other, or as much and for longer. The caller holds buffers.mu.
func (s *session) greedier(other *session) bool {
	return s.claim.held > other.claim.held || s.claim.held == other.claim.held && s.began.Load() < other.began.Load()
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
		case cut && other.claim.held > 0:
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
		s.srv.buffers.free(&s.claim, int64(n))
		s.srv.buffered.Add(int64(-n))
	}
}
