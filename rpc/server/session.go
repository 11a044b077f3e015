package server

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"blockyard/env/vec"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// A session is one connection and its handles.
type session struct {
	srv    *Server
	conn   net.Conn
	id     uint64
	ctx    context.Context // ends with the session
	cancel context.CancelFunc

	entrance *entrance // where it waits; nil once its hello was accepted. Guarded by srv.mu

	queue     chan *wire.Frame
	arrived   chan struct{}  // a request has been queued: for a recv that waits
	inflight  atomic.Int32   // requests read but not yet answered
	greeted   atomic.Bool    // hello was accepted
	stepLimit atomic.Int64   // length of the longest step request
	token     *limits.Holder // set by hello; nil if clients need none

	freeMu sync.Mutex
	free   []*wire.Frame
	kept   int             // bytes of frames that handles account for
	keep   int             // the most of them
	over   int64           // bytes of kept beyond keep, accounted for
	claim  *limits.Holding // other bytes of frames
	sender *limits.Holding // bytes of responses

	writeMu  sync.Mutex
	deadline time.Time // write deadline of the connection
	brief    [wire.DoneLen]byte

	// Only for the goroutine that answers; see quick for the exception.
	handles  map[uint32]*handle
	agents   batch.Agents // with what the client uploaded
	tab      *limits.Tab  // of the session and its uploads; set by hello
	next     uint32
	requests uint64
	illegal  uint64 // illegal actions that were replaced
	errors   uint64
}

func newSession(srv *Server, conn net.Conn, id uint64) *session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{srv: srv, conn: conn, id: id, ctx: ctx, cancel: cancel,
		queue: make(chan *wire.Frame, srv.limits.MaxInflight+1), arrived: make(chan struct{}, 1),
		handles: map[uint32]*handle{}, tab: srv.ledger.Tab(nil),
		agents: batch.Agents{New: srv.c.Agents, Memory: srv.c.AgentMemory, Trusted: srv.c.Trusted, Uploads: batch.Weights{}}}
	s.claim = srv.ledger.Requests.Holding(func() { s.readUntil(time.Time{}) })
	s.sender = srv.ledger.Replies.Holding(func() { go s.end() }) // closing a TLS connection may wait for its client
	return s
}

// end closes the connection; run then returns. Any goroutine may call it.
func (s *session) end() {
	s.cancel()
	s.conn.Close()
}

// run serves the connection until it ends, and frees the session.
func (s *session) run() {
	defer s.dispose()
	var answering sync.WaitGroup
	answering.Go(func() {
		for f := range s.queue { // after the session's end, this only empties the queue
			s.finish(f)
		}
	})
	err := s.readAll()
	s.claim.Settle()
	s.end()
	close(s.queue)
	answering.Wait()
	s.srv.log.Debug("session ended", "session", s.id, "token", s.token.Name(), "err", err)
}

// dispose frees what the session has, after its end.
func (s *session) dispose() {
	defer s.srv.wg.Done()
	defer s.srv.forget(s)
	s.claim.Settle()
	for h := range s.handles {
		s.closeHandle(h)
	}
	for _, f := range s.free {
		s.release(f)
	}
	s.countKept()
	s.tab.Close()
}

// reader reads requests within the session's limits.
func (s *session) reader(from io.Reader) *wire.Reader {
	r := wire.NewReader(countingReader{from, &s.srv.ledger.Totals.Received})
	r.Limit = s.limit
	r.Grow = s.hold
	return r
}

// read reads the next request. If it violates the protocol, read answers it; any error ends the session.
func (s *session) read(r *wire.Reader) (*wire.Frame, error) {
	f := s.frame()
	err := r.Next(f)
	if err == nil {
		s.srv.ledger.Totals.Requests.Add(1)
		return f, nil
	}
	if s.claim.Cut() {
		err = s.claim.Exceeds()
	}
	var refusal *wire.Error
	if errors.As(err, &refusal) {
		s.fail(f.ID, refusal)
	}
	s.freeMu.Lock()
	defer s.freeMu.Unlock()
	s.release(f)
	return nil, err
}

// readAll reads requests and queues them until the connection ends or violates the protocol.
func (s *session) readAll() error {
	r := s.reader(s.conn)
	r.Partial = func(more bool) {
		if !s.greeted.Load() {
			return
		}
		var until time.Time
		if more {
			s.claim.Began()
			until = time.Now().Add(s.srv.limits.FrameTimeout)
		}
		s.readUntil(until)
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(s.srv.limits.HelloTimeout))
	for {
		f, err := s.read(r)
		if err != nil {
			return err
		}
		switch {
		case f.Kind == wire.Notification:
			s.recycle(f)
		case s.srv.drain.Load():
			s.fail(f.ID, wire.Errorf(wire.Draining, "the server is shutting down: connect again later"))
			s.recycle(f)
		case int(s.inflight.Load()) > s.srv.limits.MaxInflight: // the one being answered does not count
			most := int64(s.srv.limits.MaxInflight)
			s.fail(f.ID, wire.Exceeds("max_inflight", most, most+1, "--max-inflight").Recode(wire.Busy, 10))
			s.recycle(f)
		default:
			if idle := s.inflight.Add(1) == 1; idle && s.quick(f) {
				s.finish(f)
			} else {
				s.queue <- f
				select {
				case s.arrived <- struct{}{}:
				default:
				}
			}
		}
	}
}

// limit is the largest length of a request for a method, nil while it is not known.
func (s *session) limit(method []byte) int {
	switch {
	case method == nil || !s.greeted.Load():
		return limits.BeforeHello
	case string(method) == "step" || string(method) == "send":
		return max(limits.Control, int(s.stepLimit.Load()))
	case methods[string(method)].bulk:
		return s.srv.limits.MaxMessage
	}
	return min(limits.Control, s.srv.limits.MaxMessage)
}

// finish answers a request, unless the session has ended, and recycles its frame.
func (s *session) finish(f *wire.Frame) {
	if s.ctx.Err() == nil {
		s.answer(f)
	}
	s.recycle(f)
	s.inflight.Add(-1)
}

// quickStep is the longest duration of a step that the reading goroutine answers itself.
const quickStep = 250 * time.Microsecond

// quick reports whether the reading goroutine should answer a request itself: a short step, the only request in flight.
// Handing it over takes as long as a step of a few games. Agents of the server might wait, and then no goroutine would
// notice the client's disconnection.
func (s *session) quick(f *wire.Frame) bool {
	if string(f.Method) != "step" && string(f.Method) != "step_slot" || !s.greeted.Load() {
		return false
	}
	h := s.handles[uint32(f.Int(0, "the handle", 0, math.MaxUint32))]
	return f.Err() == nil && h != nil && h.alone && h.took < quickStep
}

func (s *session) answer(f *wire.Frame) {
	defer func() {
		if p := recover(); p != nil {
			s.bug(f, p, debug.Stack())
			s.end()
		}
	}()
	s.requests++
	defer s.sender.Release()
	if err := s.call(f); err != nil {
		s.errors++
		var bug *vec.PanicError
		if errors.As(err, &bug) {
			s.bug(f, bug.Value, bug.Stack)
			return
		}
		refusal := refusal(f.Method, err)
		s.fail(f.ID, refusal)
		if refusal.Fatal() {
			s.end()
		}
	}
}

// bug logs a panic and tells the client where to find it. The games work again after a reset of all of them.
func (s *session) bug(f *wire.Frame, value any, stack []byte) {
	s.srv.log.Error("panic", "session", s.id, "token", s.token.Name(), "request", s.requests, "method", string(f.Method),
		"panic", value, "stack", string(stack))
	bug := wire.Errorf(wire.Internal, "a bug in the server: see session %d, request %d in its log", s.id, s.requests)
	s.fail(f.ID, bug.With("session", s.id).With("request", s.requests))
}

// A handle is a batch of a session. Only the answering goroutine of its session uses it; see quick for the exception.
type handle struct {
	*batch.Batch
	session uint64                       // number of the session that opened it
	toWatch atomic.Pointer[watchedGames] // games to copy after the next request; nil for none
	watched atomic.Pointer[watchedGames] // the last copies; nil if nobody has watched

	alone  bool          // the server plays no seat
	took   time.Duration // duration of the last step
	pushes bool          // the last observations of games follow the step that ended them
	reply  []byte        // the response of recv
}

func (s *session) closeHandle(id uint32) {
	h := s.handles[id]
	delete(s.handles, id)
	s.srv.mu.Lock()
	delete(s.srv.open, h)
	s.srv.mu.Unlock()
	if err := h.Close(); err != nil {
		s.srv.log.Warn("close", "session", s.id, "handle", id, "err", err)
	}
	s.sizeSteps()
}
