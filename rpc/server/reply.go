package server

import (
	"net"
	"time"

	"blockyard/rpc/wire"
)

// fail answers a request with an error.
func (s *session) fail(id uint32, e *wire.Error) {
	s.srv.failures.Add(1)
	b, err := wire.Failure(id, e)
	if err != nil {
		s.srv.log.Error("encode", "err", err)
		s.end()
		return
	}
	s.write(b)
}

// reply answers a request with a result.
func (s *session) reply(id uint32, result any) error {
	parts, err := wire.Result(id, result)
	if err != nil {
		return err
	}
	s.write(parts...)
	return nil
}

// write sends parts as one message. A client that does not take it within the limit
// loses its session.
func (s *session) write(parts ...[]byte) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	// The deadline moves in strides, so that a step need not touch a timer.
	limit := s.srv.limits.WriteTimeout
	if now := time.Now(); s.deadline.Sub(now) < limit {
		s.deadline = now.Add(limit + limit/4)
		_ = s.conn.SetWriteDeadline(s.deadline)
	}
	var err error
	if len(parts) == 1 {
		_, err = s.conn.Write(parts[0])
	} else {
		buffers := net.Buffers(parts)
		_, err = buffers.WriteTo(s.conn)
	}
	if err != nil {
		s.end()
	}
}
