package server

import (
	"errors"
	"sync/atomic"
	"time"

	"blockyard/env/vec"
	"blockyard/rpc/server/batch"
	"blockyard/rpc/wire"
)

// A handle is a batch of a session. Only the answering goroutine of its session uses it; see quick for the exception.
type handle struct {
	*batch.Batch
	session uint64                  // number of the session that opened it
	glance  atomic.Pointer[glances] // games to copy after the next request; nil for none
	glanced atomic.Pointer[glances] // the last copies; nil if nobody has watched

	alone  bool          // the server plays no seat
	took   time.Duration // duration of the last step
	pushes bool          // the last observations of games follow the step that ended them
	reply  []byte        // the response of recv

	illegal   uint64 // illegal actions so far
	decisions uint64 // of opponents so far
}

// closeHandle closes a handle and frees its memory.
func (s *session) closeHandle(id uint32) {
	h := s.handles[id]
	delete(s.handles, id)
	s.srv.unregister(h)
	if err := h.Close(); err != nil {
		s.srv.log.Warn("close", "session", s.id, "handle", id, "err", err)
	}
	s.sizeSteps()
}

// count adds what the games of a handle counted since the last call.
func (s *session) count(h *handle) {
	if n := h.Env.IllegalActions() - h.illegal; n != 0 {
		h.illegal += n
		s.illegal += n
		s.srv.illegal.Add(n)
	}
	if h.alone {
		return
	}
	if n := h.Env.Decisions() - h.decisions; n != 0 {
		h.decisions += n
		s.srv.decisions.Add(n)
	}
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
