//go:build !js

package webplay

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/viewer"
)

const maxBody = 1 << 10 // bytes of a request

// A Server serves the page of a Table. Whoever has the token may play; the page takes it from the fragment of its
// address, which browsers send to nobody, and sends it as a bearer token.
type Server struct {
	token  [sha256.Size]byte
	routes *http.ServeMux
}

// NewToken returns a token that cannot be guessed.
func NewToken() string { return rand.Text() }

// NewServer serves a table to those who have the token.
func NewServer(t *Table, token string) *Server {
	s := &Server{token: sha256.Sum256([]byte(token)), routes: http.NewServeMux()}
	files := viewer.PageFiles()
	s.routes.Handle("GET /", http.FileServerFS(files))
	s.routes.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "play.html")
	})
	s.routes.HandleFunc("GET /rules/{game}", viewer.Rules)
	web.Handle(s.routes, t.Answers(), maxBody)
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
			return ask.Status(http.StatusUnauthorized, errors.New("this page needs its token: "+
				"open the whole address that agents play has printed, with what follows #"))
		}
	}
	s.routes.ServeHTTP(w, r)
	return nil
}
