package server

import (
	"bytes"
	"io"
	"net"
	"slices"
	"sync"
	"time"
	"unsafe"

	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// An entrance holds the connections of one listener that have not said hello, the oldest first. They do not count as
// sessions: strangers cannot keep out those who have the token, nor those who use another listener. They do not
// count towards the budgets either, since their number is bounded: one more than Limits.MostWaiting drops the oldest.
type entrance struct{ waiting []*session }

func (e *entrance) remove(ses *session) {
	if k := slices.Index(e.waiting, ses); k >= 0 {
		e.waiting = slices.Delete(e.waiting, k, k+1)
	}
}

// arrive returns the session of a new connection, which waits at the entrance until admit; nil while shutting down.
func (s *Server) arrive(conn net.Conn, at *entrance) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drain.Load() {
		conn.Close()
		return nil
	}
	if len(at.waiting) >= s.limits.MostWaiting() {
		oldest := at.waiting[0]
		at.remove(oldest)
		s.log.Debug("dropped the oldest connection without a hello", "session", oldest.id)
		go oldest.end() // closing a TLS connection may wait for its client
	}
	s.ids++
	ses := newSession(s, conn, s.ids)
	ses.entrance = at
	at.waiting = append(at.waiting, ses)
	s.sessions[ses] = struct{}{}
	s.wg.Add(1)
	return ses
}

// admit counts a connection whose hello is accepted as a session with a token, or fails if there are too many.
func (s *Server) admit(ses *session, token *limits.Holder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ses.entrance == nil { // it repeats its hello
		if token != ses.token {
			return wire.Errorf(wire.AuthFailed, "this connection already has another token: open one for each token")
		}
		return nil
	}
	tab := s.ledger.Tab(token)
	if err := tab.Take(limits.SessionUse); err != nil {
		return err
	}
	ses.entrance.remove(ses)
	ses.entrance, ses.token, ses.tab = nil, token, tab
	return nil
}

func (s *Server) forget(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ses)
	if ses.entrance != nil {
		ses.entrance.remove(ses)
	}
	if len(s.sessions) == 0 {
		s.quiet = time.Now()
	}
}

// A Local is a connection to the server of this process. Each request is answered on the goroutine that writes it,
// before Write returns. It is safe for concurrent use.
type Local struct {
	net.Conn // nil: a Local has no addresses and no deadlines
	mu       sync.Mutex
	ses      *session
	requests bytes.Reader
	reader   *wire.Reader
	answers  answers
	step     []byte // a request
	closed   bool
}

// answers is the server's side of a Local.
type answers struct {
	net.Conn // nil
	bytes.Buffer
}

func (a *answers) Close() error                     { return nil }
func (a *answers) SetReadDeadline(time.Time) error  { return nil }
func (a *answers) SetWriteDeadline(time.Time) error { return nil }
func (a *answers) Write(b []byte) (int, error)      { return a.Buffer.Write(b) }
func (a *answers) Read([]byte) (int, error)         { return 0, io.EOF }

// Local returns a new connection of this process, which has not said hello; nil after Shutdown.
func (s *Server) Local() *Local {
	l := &Local{}
	if l.ses = s.arrive(&l.answers, &entrance{}); l.ses == nil {
		return nil
	}
	l.reader = l.ses.reader(&l.requests)
	return l
}

// Write answers the requests in b, which holds each of them whole.
func (l *Local) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(b), l.answer(b)
}

func (l *Local) answer(b []byte) error {
	l.requests.Reset(b)
	for l.requests.Len()+l.reader.Buffered() > 0 {
		if l.ses.ctx.Err() != nil {
			return net.ErrClosed
		}
		f, err := l.ses.read(l.reader)
		if err != nil {
			l.ses.end()
			return err
		}
		if f.Kind == wire.Notification {
			l.ses.recycle(f)
			continue
		}
		l.ses.inflight.Add(1)
		l.ses.finish(f)
	}
	return nil
}

// Read returns bytes of the answers, io.EOF if there are no more for now.
func (l *Local) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.answers.Buffer.Read(b)
	if l.answers.Len() == 0 && l.answers.Cap() > mostAtOnce {
		l.answers.Buffer = bytes.Buffer{}
	}
	return n, err
}

// Lend returns the number of a slot in memory of the caller: a slab for the games of a handle, aligned to 8 bytes. It
// must exist until the next request of the handle, whose answer may depend on it.
func (l *Local) Lend(h uint32, slab unsafe.Pointer) (slot uint32, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if open := l.ses.handles[h]; open != nil {
		return open.Lend(slab)
	}
	return 0, wire.Errorf(wire.BadHandle, "no open handle %d in this session", h)
}

// Step steps the games of a handle like the method step_slot, with memory of the caller as the slot: actions, a
// little-endian uint16 per row, and a slab; see Lend. It reports whether it succeeded; if not, Read returns the answer.
func (l *Local) Step(h uint32, actions, slab unsafe.Pointer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var slot uint32
	if open := l.ses.handles[h]; open != nil {
		var err error
		if slot, err = open.Lend(slab); err == nil && actions == nil {
			err = badParams("step: the actions are NULL, want %d bytes", 2*open.Rows)
		}
		if err != nil {
			l.ses.fail(0, refusal([]byte("step"), err))
			return false
		}
		open.Slots[slot].Actions = unsafe.Slice((*byte)(actions), 2*open.Rows)
	}
	before := l.answers.Len()
	l.step = wire.AppendStepSlot(l.step[:0], 0, h, slot)
	if err := l.answer(l.step); err != nil || !bytes.Equal(l.answers.Bytes()[before:], l.ses.brief[:]) {
		return false
	}
	l.answers.Truncate(before)
	return true
}

// Close ends the session and frees its handles. It may be called again. Shutdown waits for it.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.ses.end()
		l.ses.dispose()
	}
	return nil
}
