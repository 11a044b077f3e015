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
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// A session is one game at a time, of one client. Its methods may be called by several goroutines at once, except for
// those that say that the caller holds a lock.
type session struct {
	srv    *Server
	at     place
	parent *session              // what it was forked from; nil for none
	forks  map[*session]struct{} // guarded by srv.mu

	mu     sync.Mutex
	ctx    context.Context // of its agents
	cancel context.CancelFunc
	tab    *limits.Tab
	held   int64        // bytes on tab for turns
	games  *batch.Batch // of one game; nil if there was no room for it
	legal  []env.Action
	used   atomic.Int64                   // when, in nanoseconds since 1970
	idle   *time.Timer                    // closes it
	socket atomic.Pointer[websocket.Conn] // the WebSocket that plays it; nil for none

	id string // "" before the first reset
	episode
}

var (
	errClosed = gone(errors.New("the session is closed, since nobody has used it for long or the server ends: " +
		"open a new one"))
	errReset = badRequest(errors.New("no episode has begun: send a reset first"))
	errDone  = badRequest(errors.New("the episode is over: send a reset to begin the next one"))
)

// close ends the session and its branches. Further calls do nothing.
func (p *session) close() {
	p.cancel() // an opponent that thinks answers now
	p.mu.Lock()
	p.idle.Stop()
	if err := p.stand(); err != nil {
		p.srv.c.Log.Warn("close", "episode", p.at.id, "err", err)
	}
	p.tab.Close()
	p.mu.Unlock()
	p.srv.forget(p)
	for _, f := range p.branches() { // it can have no more
		f.close()
	}
}

func (p *session) branches() []*session {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	return slices.Collect(maps.Keys(p.forks))
}

// touch notes that the session is in use, and so is what it was forked from.
func (p *session) touch() {
	now := time.Now().UnixNano()
	for ; p != nil; p = p.parent {
		p.used.Store(now)
		p.idle.Reset(p.srv.c.Idle)
	}
}

// lock locks p.mu for one that uses the session, or fails if the session is closed.
func (p *session) lock() error {
	p.mu.Lock()
	if p.ctx.Err() != nil {
		p.mu.Unlock()
		return errClosed
	}
	p.touch()
	return nil
}

// lockBegun is lock, and begins an episode if there is none.
func (p *session) lockBegun() error {
	err := p.lock()
	if err == nil && p.id == "" {
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
	err := p.tab.Add(want - p.held)
	if err == nil {
		p.held = want
	}
	return err
}

// requested counts a request of so many bytes, and answered a response.
func (p *session) requested(bytes int) {
	p.tab.Totals.Requests.Add(1)
	p.tab.Totals.Received.Add(uint64(bytes))
}

func (p *session) answered(bytes int) { p.tab.Totals.Sent.Add(uint64(bytes)) }

// A place is where a session is found: by the client's token and the id of the episode, "" for one without a name.
type place struct {
	token *limits.Holder // nil if clients need none
	id    string
}

// ownPrefix begins the ids of sessions that belong to a connection and end with it.
const ownPrefix = "own:"

// newSession admits a client with a token to a session that nobody else finds.
func (s *Server) newSession(token *limits.Holder) (*session, error) {
	p, _, err := s.enter(place{token, ownPrefix + rand.Text()}, nil)
	return p, err
}

// find returns the session of an id, or, if it is "", of the episode without a name.
func (s *Server) find(token *limits.Holder, id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.episodes[place{token, id}]; p != nil {
		return p, nil
	}
	if id == "" {
		return nil, errReset
	}
	return nil, gone(fmt.Errorf("no episode %.80q: send a reset (one that nobody uses for %v is closed)", id, s.c.Idle))
}

// reset begins an episode in the session of its id, which it creates if there is none.
func (s *Server) reset(token *limits.Holder, o resetOptions) (*result, error) {
	p, created, err := s.open(token, o.EpisodeID, nil)
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
func (s *Server) open(token *limits.Holder, id string, parent *session) (p *session, created bool, err error) {
	for {
		p, created, err = s.enter(place{token, id}, parent)
		if refused, ok := errors.AsType[*wire.Error](err); !ok || refused.Code != wire.Limit {
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
func (s *Server) enter(at place, parent *session) (p *session, created bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.episodes[at] != nil:
		return s.episodes[at], false, nil
	case s.draining.Load():
		return nil, false, errDraining
	case parent != nil && s.episodes[parent.at] != parent:
		return nil, false, errClosed
	}
	p = &session{srv: s, at: place{at.token, cmp.Or(at.id, rand.Text())}, parent: parent,
		tab: s.c.Ledger.Tab(at.token), forks: map[*session]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if err = p.tab.Take(limits.SessionUse); err == nil {
		err = p.sit(s.c.Seat)
	}
	if err != nil {
		p.cancel()
		p.tab.Close()
		return nil, false, err
	}
	p.idle = time.AfterFunc(s.c.Idle, p.close)
	p.touch()
	s.episodes[at], s.episodes[p.at] = p, p
	if parent != nil {
		parent.forks[p] = struct{}{}
	}
	return p, true, nil
}

// forget removes a session that is closed.
func (s *Server) forget(p *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range []place{p.at, {p.at.token, ""}} {
		if s.episodes[at] == p {
			delete(s.episodes, at)
		}
	}
	if p.parent != nil {
		delete(p.parent.forks, p)
	}
}

// oldest returns that session of a token whose episode has been over for the longest time, nil if there is none.
func (s *Server) oldest(token *limits.Holder) (found *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, p := range s.episodes {
		if at.token != token || strings.HasPrefix(at.id, ownPrefix) || !p.mu.TryLock() { // one that plays is not over
			continue
		}
		if p.Done && p.ctx.Err() == nil && (found == nil || p.used.Load() < found.used.Load()) {
			found = p
		}
		p.mu.Unlock()
	}
	return found
}
