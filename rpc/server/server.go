package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// Config says what a Server serves.
type Config struct {
	Games   []*env.Game // a game before its variants; the first match of a name wins
	Version string      // told to clients
	// Agents reads the text of an opponent, which came from a client. Opponents lists
	// texts that it surely reads.
	Agents    func(g *env.Game, spec string) (vec.AgentFactory, error)
	Opponents func(g *env.Game) []string
	Features  func(g *env.Game) *Features // what trained players of g look at; nil if there is nothing
	Token     string                      // hello must present it, unless it is empty
	Workers   int                         // goroutines that step one handle; 0 means GOMAXPROCS
	Limits    Limits
	Log       *slog.Logger
}

// A Server answers connections until Shutdown.
type Server struct {
	c      Config
	limits Limits
	log    *slog.Logger
	begun  time.Time

	mu       sync.Mutex
	sessions map[*session]struct{}
	waiting  int // connections that are being refused
	ids      uint64
	envs     int
	handles  int
	memory   int64
	quiet    time.Time // since when there has been no session

	wg         sync.WaitGroup
	drain      atomic.Bool
	buffered   atomic.Int64 // bytes of requests
	replies    atomic.Int64 // bytes of answers
	garbage    atomic.Int64 // bytes dropped since the last collection
	collecting sync.Mutex
	requests   atomic.Uint64
	steps      atomic.Uint64 // of handles
	rows       atomic.Uint64 // steps times rows
	failures   atomic.Uint64
}

// New returns a server that serves nothing yet.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{c: c, limits: c.Limits, log: c.Log, begun: time.Now(), quiet: time.Now(), sessions: map[*session]struct{}{}}
}

// Serve accepts connections from l until it is closed. It may be called for several
// listeners at once.
func (s *Server) Serve(l net.Listener) error {
	pause := time.Millisecond
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = time.Millisecond
			s.welcome(conn)
		case errors.Is(err, net.ErrClosed) || s.drain.Load():
			return nil
		default: // such as too many open files: goes away when sessions end
			s.log.Warn("accept", "err", err)
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
		}
	}
}

// mostWaiting is how many connections beyond the limit are told so politely.
const mostWaiting = 32

func (s *Server) welcome(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.drain.Load() || s.waiting >= mostWaiting:
		conn.Close()
		return
	case len(s.sessions) >= s.limits.MaxSessions:
		s.waiting++
		s.wg.Add(1)
		go s.refuse(conn)
		return
	}
	s.ids++
	ses := newSession(s, conn, s.ids)
	s.sessions[ses] = struct{}{}
	s.wg.Add(1)
	go ses.run()
}

// refuse answers the first request of a connection beyond the limit and closes it.
func (s *Server) refuse(conn net.Conn) {
	defer s.wg.Done()
	defer func() {
		conn.Close()
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
	}()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	var f wire.Frame
	_ = wire.NewReader(conn).Next(&f)
	limit := int64(s.limits.MaxSessions)
	if b, err := wire.Failure(f.ID, wire.Exceeds("max_sessions", limit, limit+1, "--max-sessions")); err == nil {
		_, _ = conn.Write(b)
	}
}

// forget takes an ended session off the books.
func (s *Server) forget(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ses)
	if len(s.sessions) == 0 {
		s.quiet = time.Now()
	}
}

// Idle returns for how long there has been no session, 0 while there is one.
func (s *Server) Idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) > 0 {
		return 0
	}
	return time.Since(s.quiet)
}

// linger is how long a draining server goes on answering at least.
const linger = 100 * time.Millisecond

// Shutdown answers new requests with draining, waits for those in flight until
// Limits.DrainTimeout or ctx ends, then closes every connection and returns when all
// that belongs to them is freed. The listeners are closed by the caller, before.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain.Store(true)
	ctx, cancel := context.WithTimeout(ctx, s.limits.DrainTimeout)
	defer cancel()
	least := time.Now().Add(linger)
	for ctx.Err() == nil && (s.inflight() > 0 || time.Now().Before(least) && s.Idle() == 0) {
		time.Sleep(5 * time.Millisecond)
	}
	s.mu.Lock()
	for ses := range s.sessions {
		ses.end()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return nil
}

func (s *Server) inflight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for ses := range s.sessions {
		n += int(ses.inflight.Load())
	}
	return n
}
