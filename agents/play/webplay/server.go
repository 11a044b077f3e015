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
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/datasets/program/web"
	"blockyard/datasets/viewer"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
)

//go:embed page
var page embed.FS

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
	s.routes.HandleFunc("GET /rules/{game}", viewer.Rules)
	s.routes.Handle("GET /api/position", web.Handler(s.position))
	s.routes.Handle("POST /api/choose", web.Handler(s.choose))
	s.routes.Handle("POST /api/again", web.Handler(s.again))
	s.routes.Handle("GET /api/hints", web.Handler(s.hints))
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.Handler(s.known).ServeHTTP(w, r)
}

// known answers those who have the token.
func (s *Server) known(w http.ResponseWriter, r *http.Request) error {
	web.Protect(w.Header())
	if strings.HasPrefix(r.URL.Path, "/api/") {
		given := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
		if subtle.ConstantTimeCompare(given[:], s.token[:]) != 1 {
			return web.Status(http.StatusUnauthorized, errors.New("this page needs its token: "+
				"open the whole address that agents play has printed, with what follows #"))
		}
	}
	s.routes.ServeHTTP(w, r)
	return nil
}

func (s *Server) position(w http.ResponseWriter, r *http.Request) error {
	after, err := strconv.Atoi(r.FormValue("after"))
	if err != nil {
		return bad("after: %.40q, want the version of a position", r.FormValue("after"))
	}
	ctx, stop := context.WithTimeout(r.Context(), patience)
	defer stop()
	web.Answer(w, s.table.after(ctx, after))
	return nil
}

// bad is the error for a request that no page of ours sends.
func bad(format string, args ...any) error {
	return web.Status(http.StatusBadRequest, fmt.Errorf(format, args...))
}

// order is the body of a POST.
type order struct {
	Version int `json:"version"`
	Action  int `json:"action"`
}

// order reads the body of a POST and gives it to obey. An order that comes too late is a conflict.
func (s *Server) order(w http.ResponseWriter, r *http.Request, obey func(order) error) error {
	var o order
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&o); err != nil {
		return bad("body: %w", err)
	}
	if o.Action < 0 || o.Action >= int(env.None) {
		return bad("action %d: want 0 to %d", o.Action, env.None-1)
	}
	if err := obey(o); err != nil {
		return web.Status(http.StatusConflict, err)
	}
	web.Answer(w, struct{}{})
	return nil
}

func (s *Server) choose(w http.ResponseWriter, r *http.Request) error {
	return s.order(w, r, func(o order) error { return s.table.choose(o.Version, env.Action(o.Action)) })
}

func (s *Server) again(w http.ResponseWriter, r *http.Request) error {
	return s.order(w, r, func(o order) error { return s.table.restart(o.Version) })
}

// hints responds with the best moves of the person who has to choose.
func (s *Server) hints(w http.ResponseWriter, r *http.Request) error {
	version, err := strconv.Atoi(r.FormValue("version"))
	if err != nil {
		return bad("version: %.40q, want a number", r.FormValue("version"))
	}
	if agents := s.table.agents(); !slices.Contains(agents, r.FormValue("agent")) {
		return bad("agent %.80q: want one of %q", r.FormValue("agent"), agents)
	}
	state, rec, seat, turn, err := s.table.request(version)
	if err != nil {
		return web.Status(http.StatusConflict, err)
	}
	got, err := s.table.Analyst.Analyse(r.Context(), analysis.Request{
		Record: rec, Turn: turn, State: state, Moves: env.NoMoves, Agent: r.FormValue("agent"),
	})
	if err != nil {
		return err
	}
	got.Seats = slices.DeleteFunc(got.Seats, func(s analysis.Seat) bool { return s.Seat != seat })
	web.Answer(w, got)
	return nil
}
