package server

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/rpc/server/link"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// New returns a server. Serve starts it.
func New(c Config) *Server {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Opponents == nil {
		c.Opponents = func(*env.Game) []string { return []string{} }
	}
	if c.Features == nil {
		c.Features = func(*env.Game) *features.Set { return nil }
	}
	s := &Server{c: c, log: c.Log, begun: time.Now(), quiet: time.Now(),
		links: map[*link.Link]struct{}{}, open: map[*handle]*limits.Holder{},
		ledger: limits.NewLedger(c.Limits, c.Tokens), failures: map[int]*atomic.Uint64{}}
	for _, code := range wire.Codes() {
		s.failures[code] = new(atomic.Uint64)
	}
	s.link = link.Config{Limits: &s.c.Limits, Ledger: s.ledger, Log: s.log, Draining: s.drain.Load,
		Failed: func(code int) { s.failures[code].Add(1) },
		Size:   func(name []byte) link.Size { return methods[string(name)].size }}
	return s
}

// Serve accepts connections from l until it is closed. It may be called for several listeners at once.
func (s *Server) Serve(l net.Listener) error {
	var at entrance
	pause := time.Millisecond
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = time.Millisecond
			if ses := s.arrive(conn, &at); ses != nil {
				go ses.run()
			}
		case errors.Is(err, net.ErrClosed) || s.drain.Load():
			return nil
		default: // such as too many open files, until sessions end
			s.log.Warn("accept", "err", err)
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
		}
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
	if len(at.waiting) >= s.c.Limits.MostWaiting() {
		oldest := at.waiting[0]
		at.remove(oldest)
		s.log.Debug("dropped the oldest connection without a hello", "session", oldest.id)
		go oldest.End() // closing a TLS connection may wait for its client
	}
	s.ids++
	ses := &session{srv: s, Link: link.New(conn, &s.link), id: s.ids, entrance: at, handles: map[uint32]*handle{},
		tab:    s.ledger.Tab(nil),
		agents: batch.Agents{New: s.c.Agents, Memory: s.c.AgentMemory, Trusted: s.c.Trusted, Uploads: batch.Weights{}}}
	at.waiting = append(at.waiting, ses)
	s.links[ses.Link] = struct{}{}
	s.wg.Add(1)
	return ses
}

// run serves the connection until it ends, and frees the session.
func (s *session) run() {
	defer s.dispose()
	err := s.Run(s)
	s.srv.log.Debug("session ended", "session", s.id, "token", s.token.Name(), "err", err)
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
	l.ses.local, l.reader = true, l.ses.Reader(&l.requests)
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
		if err := l.ses.Next(l.reader, l.ses); err != nil {
			return err
		}
	}
	return nil
}

// Read returns bytes of the answers, io.EOF if there are no more for now.
func (l *Local) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.answers.Buffer.Read(b)
	if l.answers.Len() == 0 && l.answers.Cap() > link.MostAtOnce {
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
			l.ses.Fail(0, refusal([]byte("step"), err))
			return false
		}
		open.Slots[slot].Actions = unsafe.Slice((*byte)(actions), 2*open.Rows)
	}
	before := l.answers.Len()
	l.step = wire.AppendStepSlot(l.step[:0], 0, h, slot)
	if err := l.answer(l.step); err != nil || !l.ses.IsDone(l.answers.Bytes()[before:]) {
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
		l.ses.End()
		l.ses.dispose()
	}
	return nil
}
