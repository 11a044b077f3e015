package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/datasets/program/web"
)

// Limits on connections, and times.
const (
	maxPerTeam = 16               // connections of one team
	maxFirst   = 64 << 10         // bytes of a request on a connection on which no team has logged in
	readTime   = 10 * time.Second // for one request
	writeTime  = 30 * time.Second // for a request and its answer
	tickTime   = 100 * time.Millisecond
	lingerTime = 3 * time.Second // after the last round, so that all clients learn of its end
	busyTime   = 2 * time.Second // before a password is sent again
)

// Serve runs the contest on a listener until ctx or the last round ends, and then ends all
// games. The error is the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := web.NewServer(s, web.Limits{Read: readTime, Write: writeTime, HeaderBytes: 16 << 10, PerMember: maxPerTeam})
	defer h.Stop()
	defer s.Close()
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	clock := time.NewTicker(tickTime)
	defer clock.Stop()
	var over <-chan time.Time
	for done := s.done; ; {
		select {
		case <-clock.C:
			s.Tick()
		case <-done:
			over, done = time.After(lingerTime), nil
		case err := <-ended:
			return err
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, reply := s.answer(w, r)
	s.count(func(c *Counts) { c.Requests[status]++ })
	text, err := json.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if web.Stranger(r) {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

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
	wait := func(d time.Duration, why string) (int, *protocol.Reply) {
		seconds := strconv.Itoa(int(math.Ceil(d.Seconds()))) // Retry-After has no fractions
		w.Header().Set("Retry-After", seconds)
		return refuse(http.StatusTooManyRequests, why+": try again in "+seconds+" s")
	}
	limit := int64(protocol.MaxRequest)
	if web.Stranger(r) {
		limit = maxFirst
	}
	q, err := protocol.ReadRequest(http.MaxBytesReader(w, r.Body, limit))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("%v: want at most %d bytes", err, limit))
	case err != nil:
		return refuse(http.StatusBadRequest, err.Error())
	}
	ok, err := s.c.Teams.Check(r.Context(), web.Asked(r), q.Team, q.Password)
	switch {
	case err != nil: // teams.ErrBusy, or nobody waits for the reply
		return wait(busyTime, err.Error())
	case !ok:
		return refuse(http.StatusUnauthorized, "wrong team name or password")
	}
	web.Known(r, q.Team)
	used := s.allowance(q.Team)
	if d := take(used.requests, s.now()); d > 0 {
		return wait(d, fmt.Sprintf("more than %d requests per second of team %s", requestRate, q.Team))
	}
	switch path {
	case protocol.CreatePractice:
		if d := take(used.practice, s.now()); d > 0 {
			return wait(d, fmt.Sprintf("more than %d practice games per minute of team %s", s.c.Practice, q.Team))
		}
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
