package server

import (
	"time"

	"blockyard/rpc/server/limits"
)

// hold counts n more bytes of a request being received, which will need owed bytes beyond them. The smaller buffer they
// replace is garbage.
func (s *session) hold(n, owed int) error {
	srv := s.srv
	srv.ledger.Dropped(n)
	srv.ledger.Collect()
	most := int64(max(srv.limits.MaxMessage, limits.Control, int(s.stepLimit.Load())))
	ok, changed := srv.buffers.Grow(s.claim, int64(n), int64(owed), most)
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

// awaitRoom is Grow, but waits for others to free memory. After FrameTimeout, the session that
// holds the most loses its connection: this one, unless another holds more.
func (s *session) awaitRoom(n, owed, most int64, changed chan struct{}) error {
	srv := s.srv
	limit := time.NewTimer(srv.limits.FrameTimeout)
	defer limit.Stop()
	for ok := false; !ok; {
		select {
		case <-changed:
		case <-limit.C:
			if ok, _ = srv.buffers.Grow(s.claim, n, owed, most); ok {
				return nil
			}
			if !srv.buffers.CutGreediest(s.claim) {
				return srv.buffers.Exceeds()
			}
			limit.Reset(srv.limits.FrameTimeout)
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		if s.claim.Cut() {
			return srv.buffers.Exceeds()
		}
		ok, changed = srv.buffers.Grow(s.claim, n, owed, most)
	}
	return nil
}

// unhold counts n bytes less.
func (s *session) unhold(n int) {
	if n > 0 {
		s.srv.buffers.Free(s.claim, int64(n))
		s.srv.buffered.Add(int64(-n))
	}
}
