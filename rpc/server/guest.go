package server

import (
	"time"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/batch"
	"blockyard/rpc/server/limits"
)

// A Guest is a game of a client that speaks another protocol than this package's. It counts as one session with one
// game towards the limits of the server and of its token, in Counts, and for Idle. It is not safe for concurrent use.
type Guest struct {
	srv   *Server
	token *limits.Holder
	tab   *limits.Tab
	left  bool

	illegal, decisions uint64 // already counted
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
	v := &Guest{srv: s, token: token, tab: s.ledger.Tab(token)}
	if err := s.enter(v); err != nil {
		return nil, err
	}
	if err := v.tab.Open(0, 1, batch.Estimate(g, &c, &batch.Options{})); err != nil {
		s.exit(v)
		return nil, err
	}
	return v, nil
}

// enter counts a guest as a session.
func (s *Server) enter(v *Guest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ledger.Admit(v.token); err != nil {
		return err
	}
	s.guests++
	return nil
}

// exit is the inverse of enter.
func (s *Server) exit(v *Guest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.Leave(v.token)
	s.guests--
	if s.guests == 0 && len(s.sessions) == 0 {
		s.quiet = time.Now()
	}
}

// Leave takes the guest out of the counts. Further calls do nothing.
func (v *Guest) Leave() {
	if v.left {
		return
	}
	v.left = true
	v.tab.Close()
	v.srv.exit(v)
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
	illegal, decisions := e.IllegalActions(), e.Decisions()
	v.srv.illegal.Add(illegal - v.illegal)
	v.srv.decisions.Add(decisions - v.decisions)
	v.illegal, v.decisions = illegal, decisions
}
