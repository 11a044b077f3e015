package server

import (
	"errors"
	"net"
	"time"

	"blockyard/env/vec"
	"blockyard/rpc/session/limits"
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
		s.claim.Free(int64(f.Settle()))
	default:
		s.release(f)
	}
	s.free = append(s.free, f)
}

// release drops a frame's memory. The caller holds freeMu, or is the last to use the session.
func (s *session) release(f *wire.Frame) {
	s.kept -= f.Kept
	s.claim.Free(int64(f.Drop()))
}

// countKept accounts for memory kept beyond keep, of a closed handle. The caller holds freeMu or is the last user.
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

// hold counts n more bytes of a request, which will need owed bytes beyond them. They replace a smaller buffer.
func (s *session) hold(n, owed int) error {
	srv := s.srv
	most := int64(max(srv.limits.MaxMessage, limits.Control, int(s.stepLimit.Load())))
	if s.claim.Grow(int64(n), int64(owed), most) {
		return nil
	}
	s.readUntil(time.Time{}) // time spent waiting for others does not count
	if err := s.claim.Await(s.ctx, int64(n), int64(owed), most); err != nil {
		return err
	}
	s.readUntil(time.Now().Add(srv.limits.FrameTimeout))
	return nil
}

// readUntil sets the read deadline of the connection. A session that is cut reads no more.
func (s *session) readUntil(deadline time.Time) {
	_ = s.conn.SetReadDeadline(deadline)
	if s.claim.Cut() {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

func (s *session) fail(id uint32, e *wire.Error) {
	s.srv.failures[e.Code].Add(1)
	b, err := wire.Failure(id, e)
	if err != nil {
		s.srv.log.Error("encode", "err", err)
		s.end()
		return
	}
	s.write(b)
}

// reply responds to a request with a result, unless that exceeds MaxReply.
func (s *session) reply(id uint32, result any) error {
	parts, err := wire.Result(id, result)
	if err != nil {
		return err
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if err := s.srv.ledger.Fits(size - limits.ReplyRoom); err != nil {
		return err
	}
	s.write(parts...)
	return nil
}

// write sends parts as one message. It ends the session of a client that does not read within WriteTimeout.
func (s *session) write(parts ...[]byte) {
	if len(parts) == 1 {
		s.writeOne(parts[0])
		return
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.extend()
	s.sender.Began()
	for rest := net.Buffers(parts); len(rest) > 0; s.sender.Moved() {
		var some net.Buffers
		some, rest = firstBytes(rest, mostAtOnce)
		n, err := some.WriteTo(s.conn)
		s.srv.ledger.Totals.Sent.Add(uint64(n))
		if err != nil {
			s.end()
			return
		}
	}
}

// mostAtOnce is how many bytes of a response are written at once, so that a client that takes nothing is noticed.
const mostAtOnce = 128 << 10

// firstBytes splits parts after so many bytes.
func firstBytes(parts net.Buffers, most int) (first, rest net.Buffers) {
	for k, p := range parts {
		if len(p) > most {
			first = append(first, parts[:k]...)
			return append(first, p[:most]), append(net.Buffers{p[most:]}, parts[k+1:]...)
		}
		most -= len(p)
	}
	return parts, nil
}

// reserve counts n bytes of bulk data of the response being built, until it is sent. It waits for room.
func (s *session) reserve(n int) error {
	if err := s.srv.ledger.Fits(n); err != nil {
		return err
	}
	return s.sender.Reserve(s.ctx, n)
}

// writeOne is write for one part, without allocating.
func (s *session) writeOne(b []byte) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.extend()
	n, err := s.conn.Write(b)
	s.srv.ledger.Totals.Sent.Add(uint64(n))
	if err != nil {
		s.end()
	}
}

// extend moves the write deadline, but not for every step, because setting a timer takes time.
func (s *session) extend() {
	limit := s.srv.limits.WriteTimeout
	if now := time.Now(); s.deadline.Sub(now) < limit {
		s.deadline = now.Add(limit + limit/4)
		_ = s.conn.SetWriteDeadline(s.deadline)
	}
}

// badParams is the error for a request whose params are wrong.
func badParams(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.BadParams, format, args...)
}

// refusal converts an error of a method for the client. Those of vec that blame no action are failures of agents.
func refusal(method []byte, err error) *wire.Error {
	var known *wire.Error
	if errors.As(err, &known) {
		return known
	}
	var blamed *vec.EnvError
	if !errors.As(err, &blamed) {
		return wire.Errorf(wire.Opponent, "%s: %v", method, err)
	}
	envs := blamed.Envs[:min(len(blamed.Envs), mostNamed)]
	switch {
	case errors.Is(err, vec.ErrNeedsReset):
		return wire.Errorf(wire.NeedsReset, "%s: %v", method, err).With("envs", envs)
	case errors.Is(err, vec.ErrAsked):
		return wire.Errorf(wire.NeedsAnswer, "%s: %v", method, err).With("envs", envs)
	}
	return wire.Errorf(wire.Illegal, "%s: %v", method, err).With("envs", envs).
		With("row", blamed.Row).With("seat", blamed.Seat).With("action", int(blamed.Action))
}

// refused is refusal under another name of the method, except that it leaves a panic as it is, for the log.
func refused(method string, err error) error {
	if errors.As(err, new(*vec.PanicError)) {
		return err
	}
	return refusal([]byte(method), err)
}

// mostNamed is the largest number of games that an error lists.
const mostNamed = 64
