package server

import (
	"slices"
	"time"

	"blockyard/rpc/server/link"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// A session is one connection and its handles.
type session struct {
	*link.Link
	srv      *Server
	id       uint64
	entrance *entrance      // where it waits; nil once its hello was accepted. Guarded by srv.mu
	token    *limits.Holder // set by hello; nil if clients need none
	local    bool           // the client is in this process

	// Only for the goroutine that answers; see Quick for the exception.
	handles  map[uint32]*handle
	agents   batch.Agents // with what the client uploaded
	tab      *limits.Tab  // of the session and its uploads; set by hello
	next     uint32
	requests uint64
	illegal  uint64 // illegal actions that were replaced
	errors   uint64
}

// An entrance holds the connections of one listener that have not said hello, the oldest first. They do not count as
// sessions: strangers cannot keep out those who have the token, nor those who use another listener. They do not
// count towards the budgets either, since their number is bounded: one more than Limits.MostWaiting drops the oldest.
type entrance struct{ waiting []*session }

func (e *entrance) remove(ses *session) {
	e.waiting = slices.DeleteFunc(e.waiting, func(other *session) bool { return other == ses })
}

// admit counts a connection whose hello is accepted as a session with a token, or fails if there are too many.
func (s *session) admit(token *limits.Holder) error {
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.entrance == nil { // it repeats its hello
		if token != s.token {
			return wire.Errorf(wire.AuthFailed, "this connection already has another token: open one for each token")
		}
		return nil
	}
	tab := s.srv.ledger.Tab(token)
	if err := tab.Take(limits.SessionUse); err != nil {
		return err
	}
	s.entrance.remove(s)
	s.entrance, s.token, s.tab = nil, token, tab
	s.Admit(token)
	return nil
}

// dispose frees what the session has, after its end.
func (s *session) dispose() {
	defer s.srv.wg.Done()
	for h := range s.handles {
		s.closeHandle(h)
	}
	s.Free()
	s.tab.Close()
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	delete(s.srv.links, s.Link)
	if s.entrance != nil {
		s.entrance.remove(s)
	}
	if len(s.srv.links) == 0 {
		s.srv.quiet = time.Now()
	}
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

// sizeSteps says how long the steps of the handles are, and how much memory of requests they may keep: what each needs
// for one step, which is part of its memory.
func (s *session) sizeSteps() {
	most, keep := 0, 0
	for _, h := range s.handles {
		most = max(most, h.Rows)
		keep += wire.SendLen(h.Config.Envs, h.Rows)
	}
	s.SizeSteps(most, keep)
}
