//go:build !js

package viewer

import (
	"cmp"
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
	"time"

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env/games"

	"github.com/klauspost/compress/gzhttp"
)

// A Site says what to show in a browser, and where.
type Site struct {
	Games   []string         // files of records, folders of them, history folders; "FILE#GAME" is a game of a file
	Turn    int              // to open the page at; only with a single game
	Analyst analysis.Analyst // nil if there is none
	web.PageFlags
}

// Serve prints the address of the page on out and serves it until ctx is done.
func (s *Site) Serve(ctx context.Context, out, errs io.Writer) error {
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
	return web.Serve(ctx, listener, NewServer(library, s.Analyst), web.Limits{Names: s.Names})
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
		if n < 0 {
			return nil, "", fmt.Errorf("%s: with --web, want a number from 1", game)
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

// FileAndNumber splits "FILE#GAME"; the number of the game is 1 by default, and -1 for the last.
func FileAndNumber(game string) (file string, n int, err error) {
	at := strings.LastIndexByte(game, '#')
	if at < 0 {
		return game, 1, nil
	}
	if n, err = strconv.Atoi(game[at+1:]); err != nil || n == 0 {
		return "", 0, fmt.Errorf("%s: want the number of a game, from 1, or from -1 at the end, after #", game)
	}
	return game[:at], n, nil
}

// NewServer serves the games of a library, with analyses if there is an analyst.
func NewServer(l *Library, analyst analysis.Analyst) http.Handler {
	return Serving("index.html", Answers(l, analyst), 0)
}

// Serving serves a page, with the files that it loads, the rules of games, and answers to its requests, which have at
// most so many bytes. The page may load from this server only.
func Serving(page string, answers ask.Answers, most int64) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{file...}", func(w http.ResponseWriter, r *http.Request) {
		name := cmp.Or(r.PathValue("file"), page)
		text, err := pageFile(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, name, time.Time{}, strings.NewReader(text))
	})
	// Browsers request this icon for responses that are not pages.
	mux.Handle("GET /favicon.ico", http.RedirectHandler("/icon.svg", http.StatusMovedPermanently))
	mux.HandleFunc("GET /rules/{game}", rules)
	web.Handle(mux, answers, most)
	zipped := gzhttp.GzipHandler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.Protect(w.Header())
		zipped.ServeHTTP(w, r)
	})
}

// rules responds with the rules of the game in the path, as people read them.
func rules(w http.ResponseWriter, r *http.Request) {
	g, err := games.Lookup(r.PathValue("game"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, games.Rules(g)) // who asked may be gone
}
