package openenv

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server"
)

// A session is one game at a time, of one client. Its methods may be called by several goroutines at once, except for
// those that say that the caller holds a lock.
type session struct {
	srv    *Server
	at     place
	secret string   // the client's token
	parent *session // what it was forked from; nil for none

	mu     sync.Mutex
	ctx    context.Context // of its agents
	cancel context.CancelFunc
	guest  *server.Guest
	held   int64    // bytes of guest for turns
	env    *vec.Env // nil before the first reset
	batch  *vec.Batch
	legal  []env.Action
	used   atomic.Int64 // when, in nanoseconds since 1970
	idle   *time.Timer
	closed bool
	socket atomic.Pointer[websocket.Conn] // the WebSocket that plays it; nil for none

	// Guarded by srv.mu:
	forks map[*session]struct{}
	gone  bool // it can have no more

	id string
	episode
}

var (
	errClosed = errors.New("the session is closed, since nobody has used it for long or the server ends: open a new one")
	errReset  = errors.New("no episode has begun: send a reset first")
	errDone   = errors.New("the episode is over: send a reset to begin the next one")
)

// newSession admits a client that sent secret to a session that nobody else finds.
func (s *Server) newSession(secret string) (*session, error) {
	token, err := s.c.Guests.Recognize(secret)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admit(secret, place{token: token}, nil)
}

// admit returns a new session, as a branch of parent unless that is nil. The caller holds s.mu.
func (s *Server) admit(secret string, at place, parent *session) (*session, error) {
	switch {
	case s.draining.Load():
		return nil, errDraining
	case parent != nil && parent.gone:
		return nil, errClosed
	}
	guest, err := s.c.Guests.Admit(secret, s.c.Game, s.c.vec(s.c.Seat))
	if err != nil {
		return nil, err
	}
	p := &session{srv: s, at: at, secret: secret, parent: parent, guest: guest, forks: map[*session]struct{}{}}
	p.touch()
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.idle = time.AfterFunc(s.c.Idle, p.expire)
	s.sessions[p] = struct{}{}
	if parent != nil {
		parent.forks[p] = struct{}{}
	}
	return p, nil
}

// expire closes the session if it has not been used for the idle time.
func (p *session) expire() {
	if left := p.srv.c.Idle - time.Since(time.Unix(0, p.used.Load())); left > 0 {
		p.idle.Reset(left)
		return
	}
	p.close()
}

// close ends the session and its branches. Further calls do nothing.
func (p *session) close() {
	p.cancel() // an opponent that thinks answers now
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	p.idle.Stop()
	if p.env != nil {
		if err := p.env.Close(); err != nil {
			p.srv.c.Log.Warn("close", "episode", p.id, "err", err)
		}
	}
	p.guest.Leave()
	p.mu.Unlock()
	for _, f := range p.srv.forget(p) {
		f.close()
	}
}

// branches returns the branches of the session.
func (p *session) branches() []*session {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	return slices.Collect(maps.Keys(p.forks))
}

// over reports whether the episode is over, and when the session was last used. It does not wait for one that plays.
func (p *session) over() (used time.Time, over bool) {
	if !p.mu.TryLock() {
		return used, false
	}
	defer p.mu.Unlock()
	return time.Unix(0, p.used.Load()), p.done && !p.closed
}

// touch notes that the session is in use, and so is what it was forked from.
func (p *session) touch() {
	now := time.Now().UnixNano()
	for ; p != nil; p = p.parent {
		p.used.Store(now)
	}
}

// lock locks p.mu for one that uses the session, or fails if the session is closed.
func (p *session) lock() error {
	p.mu.Lock()
	p.touch()
	if p.closed {
		p.mu.Unlock()
		return errClosed
	}
	return nil
}

// lockBegun is lock, and begins an episode if there is none.
func (p *session) lockBegun() error {
	err := p.lock()
	if err == nil && p.env == nil {
		if _, err = p.begin(resetOptions{}); err != nil {
			p.mu.Unlock()
		}
	}
	return err
}

// reserve accounts for the memory of so many turns. The caller holds p.mu.
func (p *session) reserve(turns int) error {
	want := int64((turns+turnsAhead-1)/turnsAhead) * turnsAhead * turnBytes
	if want == p.held {
		return nil
	}
	err := p.guest.Keep(want - p.held)
	if err == nil {
		p.held = want
	}
	return err
}
