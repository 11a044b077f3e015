package openenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"blockyard/datasets/program/web"
	"blockyard/rpc/session/limits"
)

// Handler returns what answers HTTP requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	fact := func(path string, value any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { s.answer(w, value, nil) })
	}
	fact("/health", map[string]string{"status": "healthy"})
	fact("/metadata", s.metadata())
	fact("/schema", s.schemas())
	fact("/openapi.json", s.openAPI())
	mux.HandleFunc("POST /reset", s.door(s.postReset))
	mux.HandleFunc("POST /step", s.door(s.postStep))
	mux.HandleFunc("GET /state", s.door(s.getState))
	mux.HandleFunc("GET /ws", s.known(s.websocket))
	mux.HandleFunc("/mcp", s.known(s.serveMCP))
	return mux
}

// door answers requests with what do returns for their body.
func (s *Server) door(do func(token *limits.Holder, r *http.Request, b []byte) (any, error)) http.HandlerFunc {
	return s.known(func(token *limits.Holder, w http.ResponseWriter, r *http.Request) {
		b, err := s.body(w, r)
		var out any
		if err == nil {
			out, err = do(token, r, b)
		}
		s.answer(w, out, err)
	})
}

func (s *Server) postReset(token *limits.Holder, _ *http.Request, b []byte) (any, error) {
	o, err := parseReset(b)
	if err != nil {
		return nil, err
	}
	return s.reset(token, o)
}

func (s *Server) postStep(token *limits.Holder, _ *http.Request, b []byte) (any, error) {
	var q stepRequest
	if err := decode("step", b, &q, false); err != nil {
		return nil, err
	}
	a, err := parseAction(q.Action)
	if err != nil {
		return nil, err
	}
	p, err := s.find(token, q.EpisodeID)
	if err != nil {
		return nil, err
	}
	p.requested(len(b))
	return s.act(p, a)
}

func (s *Server) getState(token *limits.Holder, r *http.Request, _ []byte) (any, error) {
	p, err := s.find(token, r.URL.Query().Get("episode_id"))
	if errors.Is(err, errReset) {
		return s.stateOf(newEpisode(s.c.Seat)), nil
	}
	if err != nil {
		return nil, err
	}
	return p.state()
}

// body reads the body of a request, within the limits.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(s.limits.FrameTimeout)) // a test's recorder has none
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.limits.MaxMessage)))
	_ = c.SetReadDeadline(time.Time{})
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, &failure{http.StatusRequestEntityTooLarge, "",
			fmt.Errorf("the body has more than %d bytes", s.limits.MaxMessage)}
	case err != nil:
		return nil, &failure{http.StatusRequestTimeout, "", fmt.Errorf("the body did not arrive: %w", err)}
	}
	return b, nil
}

// answer writes a value, or an error as the standard's server does: {"detail": TEXT}.
func (s *Server) answer(w http.ResponseWriter, value any, err error) {
	text, status := []byte(nil), http.StatusOK
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		f := s.failureOf(err)
		status = f.status
		text, _ = json.Marshal(object{"detail": f.Error()}) // a string has no errors
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.WriteTimeout)) // a test's recorder has none
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}

// known answers requests without a token with 401, if the server has any. It passes the token on.
func (s *Server) known(next func(*limits.Holder, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, err := s.tokenOf(r.Header)
		if err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.answer(w, nil, err)
			return
		}
		if name := token.Name(); name != "" {
			web.Known(r, "token "+name)
		}
		next(token, w, r)
	}
}

// tokenOf returns the token of a request.
func (s *Server) tokenOf(h http.Header) (*limits.Holder, error) {
	scheme, secret, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		secret = ""
	}
	return s.c.Ledger.Recognize(strings.TrimSpace(secret))
}
