package openenv

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
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

// A place is where a session is found: by the name of the client's token and the id of the episode. Sessions that play
// one WebSocket have no id, and nobody finds them.
type place struct{ token, id string }

// find returns the session of an id, or, if it is "", of the episode without a name.
func (s *Server) find(secret, id string) (*session, error) {
	token, err := s.c.Guests.Recognize(secret)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		if id = s.unnamed[token]; id == "" {
			return nil, badRequest(errReset)
		}
	}
	if p := s.episodes[place{token, id}]; p != nil {
		return p, nil
	}
	return nil, gone(fmt.Errorf("no episode %.80q: send a reset (one that nobody uses for %v is closed)", id, s.c.Idle))
}

// reset begins an episode in the session of its id, which it creates if there is none.
func (s *Server) reset(secret string, o resetOptions) (*result, error) {
	p, created, err := s.open(secret, o.EpisodeID, nil)
	if err != nil {
		return nil, err
	}
	o.EpisodeID = p.at.id
	r, err := p.reset(o)
	if err != nil && created {
		p.close()
	}
	return r, err
}

// open returns the session of an id and whether it has created it, as a branch of parent unless that is nil. Clients
// that name no id share one episode for each token. If there are too many, one whose episode is over makes room.
func (s *Server) open(secret, id string, parent *session) (p *session, created bool, err error) {
	token, err := s.c.Guests.Recognize(secret)
	if err != nil {
		return nil, false, err
	}
	for {
		p, created, err = s.enter(secret, place{token, id}, parent)
		var refused *wire.Error
		if err == nil || !errors.As(err, &refused) || refused.Code != wire.Limit {
			return p, created, err
		}
		old := s.oldest(token)
		if old == nil {
			return nil, false, err
		}
		old.close()
	}
}

// enter is open without making room.
func (s *Server) enter(secret string, at place, parent *session) (p *session, created bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unnamed := at.id == ""
	if unnamed {
		at.id = cmp.Or(s.unnamed[at.token], rand.Text())
	}
	if p := s.episodes[at]; p != nil {
		return p, false, nil
	}
	if p, err = s.admit(secret, at, parent); err != nil {
		return nil, false, err
	}
	if unnamed {
		s.unnamed[at.token] = at.id
	}
	s.episodes[at] = p
	return p, true, nil
}

// oldest returns that session of a token whose episode has been over for the longest time, nil if there is none.
// Sessions of MCP end themselves.
func (s *Server) oldest(token string) (found *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var since time.Time
	for at, p := range s.episodes {
		if at.token != token || strings.HasPrefix(at.id, mcpPrefix) {
			continue
		}
		if used, over := p.over(); over && (found == nil || used.Before(since)) {
			since, found = used, p
		}
	}
	return found
}

// forget removes a session that is closed, and returns its branches. It can have no more.
func (s *Server) forget(p *session) (branches []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.gone = true
	delete(s.sessions, p)
	if p.parent != nil {
		delete(p.parent.forks, p)
	}
	if s.episodes[p.at] == p {
		delete(s.episodes, p.at)
		if s.unnamed[p.at.token] == p.at.id {
			delete(s.unnamed, p.at.token)
		}
	}
	return slices.Collect(maps.Keys(p.forks))
}
