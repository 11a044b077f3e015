//go:build !js

package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
)

// A Live shows games of a running server while its clients play them: those that the server shows at its address of
// serve --watch.
type Live struct {
	Address string // HOST:PORT of --watch
	Token   string // of the clients whose games are shown; may be empty if the server has no tokens
	Listen  string // address of the page; port 0 selects a free one
	Open    bool   // open the page in the default browser
}

// Limits of Live.
const (
	refreshed  = 250 * time.Millisecond // how long an answer of the server is kept, for all pages together
	mostGames  = 64
	answerSize = 8 << 20 // bytes
)

// Serve prints the address of the page on out and serves it until ctx is done. It fails if the server cannot be
// reached.
func (l *Live) Serve(ctx context.Context, out, errs io.Writer) error {
	h := newLiveHandler(l.Address, l.Token)
	if got := h.take(ctx, 1); got.status != http.StatusOK && got.status != http.StatusTooManyRequests {
		return errors.New(got.err())
	}
	listener, err := web.Listen(l.Listen, "/", l.Open, out, errs)
	if err != nil {
		return err
	}
	return web.Serve(ctx, listener, guarded(h.routes(), web.OnLoopback(listener.Addr())), web.Limits{})
}

// A liveHandler passes on what the server shows.
type liveHandler struct {
	url, token string

	mu    sync.Mutex // one request to the server at a time
	last  passed
	count int // of last
	until time.Time
}

// passed is an answer of the server.
type passed struct {
	status int
	body   []byte
}

// err is the error in an answer.
func (p passed) err() string {
	var told struct{ Error string }
	if json.Unmarshal(p.body, &told) != nil || told.Error == "" {
		return fmt.Sprintf("the server responded with status %d: is it the address of serve --watch?", p.status)
	}
	return told.Error
}

func newLiveHandler(address, token string) *liveHandler {
	address = strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
	return &liveHandler{url: "http://" + address + "/watch", token: token}
}

func (h *liveHandler) routes() http.Handler {
	mux := http.NewServeMux()
	files := PageFiles()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "live.html") })
	mux.Handle("GET /api/live", web.Handler(func(w http.ResponseWriter, r *http.Request) error {
		q := ask.Request{Values: r.URL.Query()}
		count := q.Number("count", 16, 1, mostGames)
		if err := q.Err(); err != nil {
			return err
		}
		got := h.take(r.Context(), count)
		if got.status != http.StatusOK {
			return ask.Status(http.StatusBadGateway, errors.New(got.err()))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(got.body) // an error means that the browser is gone
		return nil
	}))
	return gzhttp.GzipHandler(mux)
}

// take returns the last answer of the server, a new one if that is old.
func (h *liveHandler) take(ctx context.Context, count int) passed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count == count && time.Now().Before(h.until) {
		return h.last
	}
	got, err := h.ask(ctx, count)
	if err != nil {
		body, _ := json.Marshal(map[string]string{"error": err.Error()}) // a string always has a form
		got = passed{http.StatusBadGateway, body}
	}
	if got.status == http.StatusTooManyRequests && h.last.status == http.StatusOK {
		return h.last // others watch too
	}
	h.last, h.count, h.until = got, count, time.Now().Add(refreshed)
	return got
}

func (h *liveHandler) ask(ctx context.Context, count int) (passed, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s?count=%d", h.url, count), nil)
	if err != nil {
		return passed{}, fmt.Errorf("%w: want HOST:PORT, the address of serve --watch", err)
	}
	if h.token != "" {
		q.Header.Set("Authorization", "Bearer "+h.token)
	}
	reply, err := http.DefaultClient.Do(q)
	if err != nil {
		return passed{}, fmt.Errorf("%w: does a server run there with --watch?", err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, answerSize))
	return passed{reply.StatusCode, body}, err
}
