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
// those that say that the caller holds p.mu.
type session struct {
	srv    *Server
	token  string   // the name of the client's
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
	ended  func() // called once, when the session is closed
	closed bool
	socket atomic.Pointer[websocket.Conn] // the WebSocket that plays it; nil for none

	// Guarded by srv.mu:
	forks map[*session]struct{} // nil for none
	gone  bool                  // it can have no more

	id string
	episode
}

var (
	errClosed = errors.New("the session is closed, since nobody has used it for long or the server ends: open a new one")
	errReset  = errors.New("no episode has begun: send a reset first")
	errDone   = errors.New("the episode is over: send a reset to begin the next one")
)

// newSession admits a client that sent secret. ended, which may be nil, is called when the session is closed.
func (s *Server) newSession(secret string, ended func()) (*session, error) {
	if s.draining.Load() {
		return nil, errDraining
	}
	name, err := s.c.Guests.Recognize(secret)
	if err != nil {
		return nil, err
	}
	guest, err := s.c.Guests.Admit(secret, s.c.Game, s.c.vec(s.c.Seat))
	if err != nil {
		return nil, err
	}
	p := &session{srv: s, token: name, secret: secret, guest: guest, ended: ended}
	p.touch()
	p.ctx, p.cancel = context.WithCancel(context.Background())
	s.mu.Lock()
	s.sessions[p] = struct{}{}
	s.mu.Unlock()
	p.idle = time.AfterFunc(s.c.Idle, p.expire)
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
	forks := p.branches()
	p.srv.mu.Lock()
	p.gone = true
	delete(p.srv.sessions, p)
	if p.parent != nil {
		delete(p.parent.forks, p)
	}
	p.srv.mu.Unlock()
	for _, f := range forks {
		f.close()
	}
	if p.ended != nil {
		go p.ended()
	}
}

// adopt makes f a branch of p, and reports whether p can have any.
func (s *Server) adopt(p, f *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.gone {
		return false
	}
	if p.forks == nil {
		p.forks = map[*session]struct{}{}
	}
	f.parent, p.forks[f] = p, struct{}{}
	return true
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
	return time.Unix(0, p.used.Load()), p.done
}

// touch notes that the session is in use, and so is what it was forked from.
func (p *session) touch() {
	now := time.Now().UnixNano()
	for ; p != nil; p = p.parent {
		p.used.Store(now)
	}
}

// use fails if the session is closed. The caller holds p.mu.
func (p *session) use() error {
	p.touch()
	if p.closed {
		return errClosed
	}
	return nil
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

// name is the id of the episode.
func (p *session) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id
}
