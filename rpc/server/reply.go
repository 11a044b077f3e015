package server

import (
	"errors"
	"net"
	"time"

	"blockyard/env/vec"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/wire"
)

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
		s.srv.sent.Add(uint64(n))
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
	s.srv.sent.Add(uint64(n))
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

// refusal converts an error of a method into an error for the client. Those of package vec that blame
// no action are failures of agents.
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
	if errors.Is(err, vec.ErrNeedsReset) {
		return wire.Errorf(wire.NeedsReset, "%s: %v", method, err).With("envs", envs)
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
