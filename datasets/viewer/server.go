package viewer

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"blockyard/datasets/program/web"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env/games"

	"github.com/klauspost/compress/gzhttp"
)

//go:embed page
var page embed.FS

// pause is how long a response may read files; the other two are the largest sizes of a response.
const (
	pause     = 250 * time.Millisecond
	pageSize  = 500 // games
	chunkSize = 256 // frames
)

// PageFiles returns the files of the page. Its stage (stage.js, draw.js), elements (dom.js) and styles serve other
// pages too.
func PageFiles() fs.FS {
	static, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return static
}

// A Server serves the page and its data.
type Server struct {
	library *Library
	analyst analysis.Analyst // nil if there is none
	replays replays
	routes  http.Handler
}

// NewServer serves the games of a library, with analyses if there is an analyst. A local server accepts only
// requests to localhost, so that a page from elsewhere cannot reach it under a host name of its own (DNS rebinding).
func NewServer(l *Library, analyst analysis.Analyst, local bool) *Server {
	s := &Server{library: l, analyst: analyst}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(PageFiles()))
	// Browsers request this icon for responses that are not pages.
	mux.Handle("GET /favicon.ico", http.RedirectHandler("/icon.svg", http.StatusMovedPermanently))
	mux.HandleFunc("GET /rules/{game}", Rules)
	mux.Handle("GET /api/games", web.Handler(s.games))
	mux.Handle("GET /api/game", web.Handler(s.game))
	mux.Handle("GET /api/frames", web.Handler(s.frames))
	mux.Handle("GET /api/marked", web.Handler(s.marked))
	mux.Handle("GET /api/analysis", web.Handler(s.analysis))
	s.routes = guarded(gzhttp.GzipHandler(mux), local)
	return s
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

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.routes.ServeHTTP(w, r) }

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

// list is the response to /api/games.
type list struct {
	Total   int      `json:"total"` // games that match
	All     int      `json:"all"`
	From    int      `json:"from"`
	Reading bool     `json:"reading"`
	Notes   []string `json:"notes,omitempty"`
	Games   []*entry `json:"games"`
	Kinds   kinds    `json:"kinds"` // of the games listed, by name
}

func (s *Server) games(w http.ResponseWriter, r *http.Request) error {
	q := query{Request: r}
	from, count := q.number("from", 0, 0, maxEntries), q.number("count", 100, 1, pageSize)
	if q.err != nil {
		return q.err
	}
	l := s.library
	l.mu.Lock()
	defer l.mu.Unlock()
	out := list{From: from, Reading: !l.refresh(time.Now().Add(pause)), Notes: l.notes, Games: []*entry{}, Kinds: kinds{}}
	all := l.list()
	out.All = len(all)
	words := strings.Fields(strings.ToLower(short(r.FormValue("q"), 200)))
	for _, e := range all {
		if len(words) > 0 && !e.matches(words) {
			continue
		}
		if out.Total++; out.Total > from && len(out.Games) < count {
			out.Games = append(out.Games, e)
			out.Kinds[e.Game] = l.kinds.of(e.Game)
		}
	}
	web.Answer(w, &out)
	return nil
}

// details is the response to /api/game.
type details struct {
	Game   entry    `json:"game"`
	Kind   kind     `json:"kind"`
	Replay info     `json:"replay"`
	Known  int      `json:"known"`            // turns that the request knew; Replay.Starts is of the others
	Agents []string `json:"agents,omitempty"` // that can analyse the game, the default first
	Gen    string   `json:"gen"`              // changes when frames loaded before are obsolete
}

func (s *Server) game(w http.ResponseWriter, r *http.Request) error {
	q := query{Request: r}
	known := q.number("known", 0, 0, 1<<40)
	f, err := s.open(&q)
	if err != nil {
		return err
	}
	defer f.mu.Unlock()
	out := details{Game: f.shown, Kind: kindOf(f.shown.Game), Replay: f.replay.info(), Gen: f.gen}
	out.Known = min(known, len(out.Replay.Starts))
	out.Replay.Starts = out.Replay.Starts[out.Known:]
	if s.analyst != nil {
		out.Agents = s.analyst.Agents(f.shown.Game)
	}
	web.Answer(w, &out)
	return nil
}

// chunk is the response to /api/frames.
type chunk struct {
	From   int     `json:"from"`
	Gen    string  `json:"gen"`
	Frames []Frame `json:"frames"`
}

func (s *Server) frames(w http.ResponseWriter, r *http.Request) error {
	q := query{Request: r}
	from, count := q.number("from", 0, 0, 1<<40), q.number("count", chunkSize, 1, chunkSize)
	f, err := s.open(&q)
	if err != nil {
		return err
	}
	defer f.mu.Unlock()
	out := chunk{From: from, Gen: f.gen, Frames: []Frame{}}
	for n := from; n < min(from+count, f.replay.info().Frames) && r.Context().Err() == nil; n++ {
		frame, err := f.replay.frame(n)
		if err != nil {
			return err
		}
		out.Frames = append(out.Frames, frame)
	}
	web.Answer(w, &out)
	return nil
}

// A query is a request whose numbers are read. It keeps the errors.
type query struct {
	*http.Request
	err error
}

// number reads a number from lo to hi, by default without, which is below lo if there is no default.
func (q *query) number(name string, without, lo, hi int) int {
	text := q.FormValue(name)
	if text == "" && without >= lo {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < lo || n > hi {
		err = fmt.Errorf("%s: %q, want a number from %d to %d", name, short(text, 40), lo, hi)
		q.err = errors.Join(q.err, web.Status(http.StatusBadRequest, err))
	}
	return n
}

// Serve serves the page on listener until ctx is done. analyst may be nil.
func Serve(ctx context.Context, listener net.Listener, l *Library, analyst analysis.Analyst) error {
	return web.Serve(ctx, listener, NewServer(l, analyst, web.OnLoopback(listener.Addr())), web.Limits{})
}
