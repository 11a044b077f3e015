package openenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Handler returns what answers HTTP requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	fact := func(path string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // the facts are ours
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { s.write(w, http.StatusOK, text) })
	}
	fact("/health", map[string]string{"status": "healthy"})
	fact("/metadata", s.metadata())
	fact("/schema", s.schemas())
	fact("/openapi.json", s.openAPI())
	mux.HandleFunc("POST /reset", s.known(s.postReset))
	mux.HandleFunc("POST /step", s.known(s.postStep))
	mux.HandleFunc("GET /state", s.known(s.getState))
	mux.HandleFunc("GET /ws", s.known(s.websocket))
	mux.HandleFunc("/mcp", s.known(s.serveMCP))
	return s.guard(mux)
}

// postReset serves POST /reset.
func (s *Server) postReset(w http.ResponseWriter, r *http.Request) {
	b, err := s.body(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	o, err := parseReset(b)
	if err != nil {
		s.refuse(w, err)
		return
	}
	out, err := s.episodes.reset(secretOf(r), o)
	s.answer(w, out, err)
}

// postStep serves POST /step.
func (s *Server) postStep(w http.ResponseWriter, r *http.Request) {
	b, err := s.body(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	var q stepRequest
	if err := decode("step", b, &q, false); err != nil {
		s.refuse(w, err)
		return
	}
	move, err := parseAction(q.Action)
	if err != nil {
		s.refuse(w, err)
		return
	}
	p, err := s.episodes.find(secretOf(r), q.EpisodeID)
	if err != nil {
		s.refuse(w, err)
		return
	}
	p.guest.Requested(len(b))
	out, err := p.play(move)
	s.answer(w, out, err)
}

// getState serves GET /state?episode_id=.
func (s *Server) getState(w http.ResponseWriter, r *http.Request) {
	p, err := s.episodes.find(secretOf(r), r.URL.Query().Get("episode_id"))
	if errors.Is(err, errReset) {
		s.answer(w, s.noState(), nil)
		return
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	out, err := p.state()
	s.answer(w, out, err)
}

// body reads the body of a request, within the limits.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(s.c.Body)) // a test's recorder has none
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.c.MaxMessage)))
	_ = c.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &failure{http.StatusRequestEntityTooLarge, "",
			fmt.Errorf("the body has more than %d bytes", s.c.MaxMessage)}
	case err != nil:
		return nil, &failure{http.StatusRequestTimeout, "", fmt.Errorf("the body did not arrive: %w", err)}
	}
	return b, nil
}

// answer writes a value, or an error.
func (s *Server) answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		s.refuse(w, err)
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		s.refuse(w, err)
		return
	}
	s.write(w, http.StatusOK, text)
}

// refuse writes an error as the standard's server does: {"detail": TEXT}.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	f := s.failureOf(err)
	text, err := json.Marshal(map[string]string{"detail": f.Error()})
	if err != nil {
		panic(err) // a string
	}
	s.write(w, f.status, text)
}

// write writes a response.
func (s *Server) write(w http.ResponseWriter, status int, text []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.c.Write)) // a test's recorder has none
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}
