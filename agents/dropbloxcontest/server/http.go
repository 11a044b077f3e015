package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"blockyard/agents/dropbloxcontest/protocol"
	"blockyard/agents/dropbloxcontest/teams"
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
	go func() { ended <- h.Serve(&limitListener{l, make(chan struct{}, maxConns)}) }()
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

// A limitListener limits the number of open connections.
type limitListener struct {
	net.Listener
	places chan struct{}
}

// Accept implements net.Listener.
func (g *limitListener) Accept() (net.Conn, error) {
	g.places <- struct{}{}
	c, err := g.Listener.Accept()
	if err != nil {
		<-g.places
		return nil, err
	}
	return &limitedConn{Conn: c, limitListener: g}, nil
}

// A limitedConn is a connection that frees its place when it is closed.
type limitedConn struct {
	net.Conn
	limitListener *limitListener
	gone          sync.Once
}

// Close implements net.Conn.
func (g *limitedConn) Close() error {
	g.gone.Do(func() { <-g.limitListener.places })
	return g.Conn.Close()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, known := map[string]func(*protocol.Request) (*protocol.Reply, error){
		protocol.CreatePractice: func(q *protocol.Request) (*protocol.Reply, error) { return s.create(q.Team) },
		protocol.GetCompete:     func(q *protocol.Request) (*protocol.Reply, error) { return s.compete(q.Team) },
		protocol.SubmitMove:     func(q *protocol.Request) (*protocol.Reply, error) { return s.submit(q), nil },
	}[r.URL.Path]
	switch {
	case !known:
		refuse(w, http.StatusNotFound, "no such request: "+r.URL.Path)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "want POST")
		return
	}
	q, err := protocol.ReadRequest(http.MaxBytesReader(w, r.Body, protocol.MaxRequest))
	if err != nil {
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, err.Error())
		return
	}
	ok, err := s.c.Teams.Check(q.Team, q.Password)
	switch {
	case errors.Is(err, teams.ErrBusy):
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	case !ok:
		refuse(w, http.StatusUnauthorized, "wrong team name or password")
		return
	}
	if r.URL.Path == protocol.SubmitMove {
		if err := q.CheckMove(); err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	reply, err := answer(q)
	if err != nil {
		s.log("%s: %v", r.URL.Path, err)
		refuse(w, http.StatusInternalServerError, "the game cannot be created")
		return
	}
	write(w, http.StatusOK, reply)
}

// refuse answers an invalid request.
func refuse(w http.ResponseWriter, status int, why string) {
	write(w, status, fail(status, why))
}

func write(w http.ResponseWriter, status int, reply *protocol.Reply) {
	text, err := json.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
