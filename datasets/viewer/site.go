//go:build !js

package viewer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"blockyard/datasets/program/web"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env/games"

	"github.com/klauspost/compress/gzhttp"
)

// A Site says what to show in a browser, and where.
type Site struct {
	Games   []string         // files of records, folders of them, history folders; "FILE#GAME" is a game of a file
	Turn    int              // to open the page at, with a single game
	Listen  string           // address; port 0 selects a free one
	Open    bool             // open the page in the default browser
	Analyst analysis.Analyst // nil if there is none
}

// Serve prints the address of the page on out and serves it until ctx is done.
func (s *Site) Serve(ctx context.Context, out, errs io.Writer) error {
	if s.Turn != 0 && len(s.Games) != 1 {
		return errors.New("a turn of several games: name one game")
	}
	paths, fragment, err := s.places()
	if err != nil {
		return err
	}
	library, err := NewLibrary(paths)
	if err != nil {
		return err
	}
	listener, err := web.Listen(s.Listen, "/"+fragment, s.Open, out, errs)
	if err != nil {
		return err
	}
	server := NewServer(library, s.Analyst, web.OnLoopback(listener.Addr()))
	return web.Serve(ctx, listener, server, web.Limits{})
}

// places returns the paths of the games without their numbers. If the site is one game with a number or a
// turn, the page opens there by the fragment of the address.
func (s *Site) places() (paths []string, fragment string, err error) {
	for _, game := range s.Games {
		path, n := game, 0
		if _, missing := os.Stat(game); missing != nil && strings.Contains(game, "#") {
			if path, n, err = FileAndNumber(game); err != nil {
				return nil, "", err
			}
		}
		if path == "-" {
			return nil, "", errors.New("standard input cannot be shown in a browser: save it to a file first")
		}
		paths = append(paths, path)
		if (n > 0 || s.Turn > 0) && len(s.Games) == 1 {
			at := url.URL{Fragment: fmt.Sprintf("%s:%d/%d", filepath.Base(path), max(n, 1), max(s.Turn, 0))}
			fragment = at.String()
		}
	}
	return paths, fragment, nil
}

// FileAndNumber splits "FILE#GAME"; the number of the game is 1 by default.
func FileAndNumber(game string) (file string, n int, err error) {
	at := strings.LastIndexByte(game, '#')
	if at < 0 {
		return game, 1, nil
	}
	if n, err = strconv.Atoi(game[at+1:]); err != nil || n < 1 {
		return "", 0, fmt.Errorf("%s: want the number of a game, from 1, after #", game)
	}
	return game[:at], n, nil
}

// NewServer serves the games of a library, with analyses if there is an analyst. A local server accepts only
// requests to localhost, so that a page from elsewhere cannot reach it under a host name of its own (DNS rebinding).
func NewServer(l *Library, analyst analysis.Analyst, local bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(PageFiles()))
	// Browsers request this icon for responses that are not pages.
	mux.Handle("GET /favicon.ico", http.RedirectHandler("/icon.svg", http.StatusMovedPermanently))
	mux.HandleFunc("GET /rules/{game}", Rules)
	web.Handle(mux, Answers(l, analyst), 0)
	return guarded(gzhttp.GzipHandler(mux), local)
}

// Rules responds with the rules of the game in the path, as people read them.
func Rules(w http.ResponseWriter, r *http.Request) {
	g, err := games.Lookup(r.PathValue("game"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, games.Rules(g)) // who asked may be gone
}

// guarded lets a page load from its own server only. If it is local, it accepts only requests to localhost.
func guarded(next http.Handler, local bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.Protect(w.Header())
		if local && !web.Loopback(r.Host) {
			http.Error(w, "this viewer accepts requests to 127.0.0.1 and localhost only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
