package webplay

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/datasets/analysis"
	"blockyard/datasets/viewer"
	"blockyard/env"
)

//go:embed page
var page embed.FS

// policy allows the page to load from this server only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Limits of a request.
const (
	patience = 20 * time.Second // how long a request waits for a change
	maxBody  = 1 << 10          // bytes
)

// A Server serves the page of a Table. Whoever has the token may play; the page takes it from the fragment of its
// address, which browsers send to nobody, and sends it as a bearer token.
type Server struct {
	table  *Table
	token  [sha256.Size]byte
	routes *http.ServeMux
}

// NewToken returns a token that cannot be guessed.
func NewToken() string { return rand.Text() }

// NewServer serves a table to those who have the token.
func NewServer(t *Table, token string) *Server {
	own, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	s := &Server{table: t, token: sha256.Sum256([]byte(token)), routes: http.NewServeMux()}
	shared := http.FileServerFS(viewer.PageFiles())
	for _, file := range []string{"dom.js", "draw.js", "stage.js", "style.css", "icon.svg"} {
		s.routes.Handle("GET /"+file, shared)
	}
	s.routes.Handle("GET /", http.FileServerFS(own))
	s.routes.HandleFunc("GET /api/position", s.position)
	s.routes.HandleFunc("POST /api/choose", s.choose)
	s.routes.HandleFunc("POST /api/again", s.again)
	s.routes.HandleFunc("GET /api/hints", s.hints)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(r.URL.Path, "/api/") {
		given := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
		if subtle.ConstantTimeCompare(given[:], s.token[:]) != 1 {
			refuse(w, http.StatusUnauthorized, errors.New("this page needs its token: open the whole address that agents play "+
				"has printed, with what follows #"))
			return
		}
	}
	s.routes.ServeHTTP(w, r)
}

func (s *Server) position(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.Atoi(r.FormValue("after"))
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("after: %.40q, want the version of a position", r.FormValue("after")))
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), patience)
	defer stop()
	answer(w, s.table.after(ctx, after))
}

// order is the body of a POST.
type order struct {
	Version int `json:"version"`
	Action  int `json:"action"`
}

// read reads the body of a POST. It responds with an error if it cannot be read.
func (o *order) read(w http.ResponseWriter, r *http.Request) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(o); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("body: %w", err))
		return false
	}
	if o.Action < 0 || o.Action >= int(env.None) {
		refuse(w, http.StatusBadRequest, fmt.Errorf("action %d: want 0 to %d", o.Action, env.None-1))
		return false
	}
	return true
}

func (s *Server) choose(w http.ResponseWriter, r *http.Request) {
	var o order
	if o.read(w, r) {
		done(w, s.table.choose(o.Version, env.Action(o.Action)))
	}
}

func (s *Server) again(w http.ResponseWriter, r *http.Request) {
	var o order
	if o.read(w, r) {
		done(w, s.table.restart(o.Version))
	}
}

// done responds to an order. One that comes too late is a conflict.
func done(w http.ResponseWriter, err error) {
	if err != nil {
		refuse(w, http.StatusConflict, err)
		return
	}
	answer(w, struct{}{})
}

// hints responds with the best moves of the person who has to choose.
func (s *Server) hints(w http.ResponseWriter, r *http.Request) {
	version, err := strconv.Atoi(r.FormValue("version"))
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("version: %.40q, want a number", r.FormValue("version")))
		return
	}
	if agents := s.table.agents(); !slices.Contains(agents, r.FormValue("agent")) {
		refuse(w, http.StatusBadRequest, fmt.Errorf("agent %.80q: want one of %q", r.FormValue("agent"), agents))
		return
	}
	state, rec, seat, turn, err := s.table.request(version)
	if err != nil {
		refuse(w, http.StatusConflict, err)
		return
	}
	got, err := s.table.Analyst.Analyse(r.Context(), analysis.Request{
		Record: rec, Turn: turn, State: state, Moves: env.NoMoves, Agent: r.FormValue("agent"),
	})
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	got.Seats = slices.DeleteFunc(got.Seats, func(s analysis.Seat) bool { return s.Seat != seat })
	answer(w, got)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an error means that the browser is gone
}

func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}

// Serve serves on listener until ctx is done.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() {
		soon, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
