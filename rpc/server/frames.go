package server

import (
	"time"

	"blockyard/rpc/server/limits"
	"blockyard/rpc/wire"
)

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
	s.srv.ledger.Dropped(f.Cap())
	s.unhold(f.Drop())
}

// countKept accounts for memory that is kept although its handle is closed: that of the frame into which the next
// request is read. The caller holds freeMu, or is the last to use the session.
func (s *session) countKept() {
	over := int64(max(0, s.kept-s.keep))
	s.srv.ledger.Linger(s.token, over-s.over)
	s.over = over
}

// sizeSteps sets the length limit of step requests: four times what the largest handle needs, so that
// a request of a wrong length gets an error instead of losing the connection. It also sets how much memory of
// requests the session may keep.
func (s *session) sizeSteps() {
	most, keep := 0, 0
	for _, h := range s.handles {
		most = max(most, h.Rows)
		keep += wire.SendLen(h.Config.Envs, h.Rows)
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

func (s *session) unhold(n int) {
	if n > 0 {
		s.srv.buffers.Free(s.claim, int64(n))
		s.srv.buffered.Add(int64(-n))
	}
}
