package server

import (
	"net"
	"slices"
	"time"

	"blockyard/rpc/server/limits"
	"blockyard/rpc/wire"
)

// An entrance holds the connections of one listener that have not said hello, the oldest first. They do not count as
// sessions: strangers cannot keep out those who have the token, nor those who use another listener. They do not
// count towards the budgets either, since their number is bounded: one more than Limits.MostWaiting drops the oldest.
// Server.mu guards it.
type entrance struct{ waiting []*session }

func (e *entrance) remove(ses *session) {
	if k := slices.Index(e.waiting, ses); k >= 0 {
		e.waiting = slices.Delete(e.waiting, k, k+1)
	}
}

// welcome serves a new connection.
func (s *Server) welcome(conn net.Conn, at *entrance) {
	if ses := s.arrive(conn, at); ses != nil {
		go ses.run()
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
	if err := s.ledger.Admit(token); err != nil {
		return err
	}
	ses.entrance.remove(ses)
	ses.entrance = nil
	ses.token, ses.tab = token, s.ledger.Tab(token)
	return nil
}

// forget removes an ended session.
func (s *Server) forget(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ses)
	if ses.entrance == nil {
		s.ledger.Leave(ses.token)
	} else {
		ses.entrance.remove(ses)
	}
	if len(s.sessions) == 0 && s.guests == 0 {
		s.quiet = time.Now()
	}
}
