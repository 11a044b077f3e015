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
	s.routes.HandleFunc("GET /api/position", s.position)
	s.routes.HandleFunc("POST /api/choose", s.choose)
	s.routes.HandleFunc("POST /api/again", s.again)
	s.routes.HandleFunc("GET /api/hints", s.hints)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.Protect(w.Header())
	if strings.HasPrefix(r.URL.Path, "/api/") {
		given := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
		if subtle.ConstantTimeCompare(given[:], s.token[:]) != 1 {
			web.Refuse(w, http.StatusUnauthorized, errors.New("this page needs its token: "+
				"open the whole address that agents play has printed, with what follows #"))
			return
		}
	}
	s.routes.ServeHTTP(w, r)
}

func (s *Server) position(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.Atoi(r.FormValue("after"))
	if err != nil {
		web.Refuse(w, http.StatusBadRequest,
			fmt.Errorf("after: %.40q, want the version of a position", r.FormValue("after")))
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), patience)
	defer stop()
	web.Answer(w, s.table.after(ctx, after))
}

// order is the body of a POST.
type order struct {
	Version int `json:"version"`
	Action  int `json:"action"`
}

// read reads the body of a POST. It responds with an error if it cannot be read.
func (o *order) read(w http.ResponseWriter, r *http.Request) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(o); err != nil {
		web.Refuse(w, http.StatusBadRequest, fmt.Errorf("body: %w", err))
		return false
	}
	if o.Action < 0 || o.Action >= int(env.None) {
		web.Refuse(w, http.StatusBadRequest, fmt.Errorf("action %d: want 0 to %d", o.Action, env.None-1))
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
		web.Refuse(w, http.StatusConflict, err)
		return
	}
	web.Answer(w, struct{}{})
}

// hints responds with the best moves of the person who has to choose.
func (s *Server) hints(w http.ResponseWriter, r *http.Request) {
	version, err := strconv.Atoi(r.FormValue("version"))
	if err != nil {
		web.Refuse(w, http.StatusBadRequest, fmt.Errorf("version: %.40q, want a number", r.FormValue("version")))
		return
	}
	if agents := s.table.agents(); !slices.Contains(agents, r.FormValue("agent")) {
		web.Refuse(w, http.StatusBadRequest, fmt.Errorf("agent %.80q: want one of %q", r.FormValue("agent"), agents))
		return
	}
	state, rec, seat, turn, err := s.table.request(version)
	if err != nil {
		web.Refuse(w, http.StatusConflict, err)
		return
	}
	got, err := s.table.Analyst.Analyse(r.Context(), analysis.Request{
		Record: rec, Turn: turn, State: state, Moves: env.NoMoves, Agent: r.FormValue("agent"),
	})
	if err != nil {
		web.Refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	got.Seats = slices.DeleteFunc(got.Seats, func(s analysis.Seat) bool { return s.Seat != seat })
	web.Answer(w, got)
}
