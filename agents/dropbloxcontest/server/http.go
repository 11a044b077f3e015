package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"blockyard/agents/dropbloxcontest/protocol"
	"blockyard/agents/ops"
)

// Limits on connections, and times.
const (
	maxConns     = 512
	readTime     = 10 * time.Second // for one request
	writeTime    = 30 * time.Second // for a request and its answer
	idleTime     = 2 * time.Minute
	tickTime     = 100 * time.Millisecond
	lingerTime   = 3 * time.Second // after the last round, so that all clients learn of its end
	shutdownTime = time.Second     // for requests in progress when the server stops
)

// Serve runs the contest on a listener until ctx or the last round ends, and then ends all
// games. The error is the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler: s, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ops.Limit(l, maxConns)) }()
	clock := time.NewTicker(tickTime)
	defer clock.Stop()
	var over <-chan time.Time
	done := s.done
	for {
		select {
		case <-clock.C:
			s.Tick()
			continue
		case <-done:
			over, done = time.After(lingerTime), nil
			continue
		case err := <-ended:
			s.Close()
			return err
		case <-over:
		case <-ctx.Done():
		}
		break
	}
	s.Close()
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if h.Shutdown(leave) != nil {
		_ = h.Close()
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, reply := s.answer(w, r)
	s.count(func(c *Counts) { c.Requests[status]++ })
	text, err := json.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// answer checks a request and returns the status and the reply to it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) (status int, reply *protocol.Reply) {
	refuse := func(status int, why string) (int, *protocol.Reply) { return status, fail(status, why) }
	path := r.URL.Path
	switch {
	case path != protocol.CreatePractice && path != protocol.GetCompete && path != protocol.SubmitMove:
		return refuse(http.StatusNotFound, "no such request: "+path)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, "want POST")
	}
	q, err := protocol.ReadRequest(http.MaxBytesReader(w, r.Body, protocol.MaxRequest))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return refuse(http.StatusRequestEntityTooLarge, err.Error())
	case err != nil:
		return refuse(http.StatusBadRequest, err.Error())
	}
	ok, err := s.c.Teams.Check(q.Team, q.Password)
	switch {
	case err != nil: // teams.ErrBusy
		return refuse(http.StatusServiceUnavailable, err.Error())
	case !ok:
		return refuse(http.StatusUnauthorized, "wrong team name or password")
	}
	switch path {
	case protocol.CreatePractice:
		reply, err = s.create(q.Team)
	case protocol.GetCompete:
		reply, err = s.compete(q.Team)
	default:
		if err := q.CheckMove(); err != nil {
			return refuse(http.StatusBadRequest, err.Error())
		}
		reply = s.submit(q)
	}
	if err != nil {
		s.c.Log.Error("the game cannot be created", "request", path, "team", q.Team, "err", err)
		return refuse(http.StatusInternalServerError, "the game cannot be created")
	}
	return http.StatusOK, reply
}
