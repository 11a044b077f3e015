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

// How the server treats those who connect.
const (
	maxConns  = 512
	readTime  = 10 * time.Second // for one request
	writeTime = 30 * time.Second // for it and its answer
	idleTime  = 2 * time.Minute
	beat      = 100 * time.Millisecond
	linger    = 3 * time.Second // after the last round, so that all hear of its end
	farewell  = time.Second     // for requests in progress when the server ends
)

// Serve holds the contest on a listener until ctx or the last round ends, and ends all
// games. The error is the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler: s, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(&gate{l, make(chan struct{}, maxConns)}) }()
	clock := time.NewTicker(beat)
	defer clock.Stop()
	var over <-chan time.Time
	done := s.done
	for {
		select {
		case <-clock.C:
			s.Tick()
			continue
		case <-done:
			over, done = time.After(linger), nil
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
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if h.Shutdown(leave) != nil {
		_ = h.Close()
	}
	return nil
}

// A gate lets so many connections be open at a time.
type gate struct {
	net.Listener
	places chan struct{}
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	g.places <- struct{}{}
	c, err := g.Listener.Accept()
	if err != nil {
		<-g.places
		return nil, err
	}
	return &guest{Conn: c, gate: g}, nil
}

// A guest is a connection that gives its place back, once.
type guest struct {
	net.Conn
	gate *gate
	gone sync.Once
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.gone.Do(func() { <-g.gate.places })
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
		refuse(w, http.StatusInternalServerError, "the game cannot be made")
		return
	}
	write(w, http.StatusOK, reply)
}

// refuse answers a request that cannot be taken.
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
