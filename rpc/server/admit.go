package server

import (
	"net"
	"slices"
	"time"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/batch"
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
	tab := s.ledger.Tab(token)
	if err := tab.Take(limits.SessionUse); err != nil {
		return err
	}
	ses.entrance.remove(ses)
	ses.entrance, ses.token, ses.tab = nil, token, tab
	return nil
}

// forget removes an ended session.
func (s *Server) forget(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ses)
	if ses.entrance != nil {
		ses.entrance.remove(ses)
	}
	s.rest()
}

// rest notes when nobody is left. The caller holds mu.
func (s *Server) rest() {
	if len(s.sessions) == 0 && s.guests == 0 {
		s.quiet = time.Now()
	}
}

// A Guest is a game of a client that speaks another protocol than this package's. It counts as one session with one
// game towards the limits of the server and of its token, in Counts, and for Idle. It is not safe for concurrent use.
type Guest struct {
	srv     *Server
	tab     *limits.Tab
	left    bool
	counted tally // of its games
}

// Recognize returns the name of the token with a secret, "" if clients need no token. Its error is a *wire.Error with
// the code AuthRequired or AuthFailed.
func (s *Server) Recognize(secret string) (name string, err error) {
	token, err := s.ledger.Recognize(secret)
	return token.Name(), err
}

// Admit counts a client that sends secret as its token and plays a game of g under c, or fails with a *wire.Error that
// names the limit which this would exceed. The caller must call Leave.
func (s *Server) Admit(secret string, g *env.Game, c vec.Config) (*Guest, error) {
	token, err := s.ledger.Recognize(secret)
	if err != nil {
		return nil, err
	}
	c.Workers = s.c.Workers
	v, use := &Guest{srv: s, tab: s.ledger.Tab(token)}, limits.SessionUse
	use.Envs, use.Memory = 1, batch.Estimate(g, &c, &batch.Options{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := v.tab.Take(use); err != nil {
		return nil, err
	}
	s.guests++
	return v, nil
}

// Leave takes the guest out of the counts. Further calls do nothing.
func (v *Guest) Leave() {
	if v.left {
		return
	}
	v.left = true
	v.srv.mu.Lock()
	defer v.srv.mu.Unlock()
	v.tab.Close()
	v.srv.guests--
	v.srv.rest()
}

// Keep accounts for so many more bytes of the guest's memory until Leave, or for less; its error is a *wire.Error that
// names the limit which they would exceed.
func (v *Guest) Keep(bytes int64) error { return v.tab.Add(bytes) }

// Requested counts a request of so many bytes, and Answered a response.
func (v *Guest) Requested(bytes int) {
	v.srv.requests.Add(1)
	v.srv.received.Add(uint64(bytes))
}

// Answered counts a response of so many bytes.
func (v *Guest) Answered(bytes int) { v.srv.sent.Add(uint64(bytes)) }

// Stepped counts a step of the guest's game, which took so long, and what its agents did in it.
func (v *Guest) Stepped(e *vec.Env, took time.Duration) {
	v.srv.steps.Add(1)
	v.srv.rows.Add(1)
	v.srv.took.observe(took)
	v.srv.count(&v.counted, e)
}
