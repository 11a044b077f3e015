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

// A Live shows games while clients play them on a server, as its address of serve --watch tells them.
type Live struct {
	Address string // HOST:PORT of --watch
	Token   string // of the clients whose games are shown; may be empty if the server has no tokens
	Listen  string // address of the page; port 0 selects a free one
	Open    bool   // open the page in the default browser

	mu    sync.Mutex // one request to the server at a time
	last  passed
	count int // of last
	until time.Time
}

const (
	refreshed  = 250 * time.Millisecond // how long an answer of the server is kept, for all pages together
	mostGames  = 64
	answerSize = 8 << 20 // bytes
)

// Serve prints the address of the page on out and serves it until ctx is done. It fails without the server.
func (l *Live) Serve(ctx context.Context, out, errs io.Writer) error {
	if got := l.take(ctx, 1); got.status != http.StatusOK && got.status != http.StatusTooManyRequests {
		return errors.New(got.err())
	}
	listener, err := web.Listen(l.Listen, "/", l.Open, out, errs)
	if err != nil {
		return err
	}
	return web.Serve(ctx, listener, guarded(l.routes(), web.OnLoopback(listener.Addr())), web.Limits{})
}

// passed is an answer of the server.
type passed struct {
	status int
	body   []byte
}

func (p passed) err() string {
	var told struct{ Error string }
	if json.Unmarshal(p.body, &told) != nil || told.Error == "" {
		return fmt.Sprintf("the server responded with status %d: is it the address of serve --watch?", p.status)
	}
	return told.Error
}

func (l *Live) routes() http.Handler {
	mux := http.NewServeMux()
	files := PageFiles()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "live.html") })
	web.Handle(mux, ask.Answers{"GET /api/live": l.answer}, 0)
	return gzhttp.GzipHandler(mux)
}

func (l *Live) answer(ctx context.Context, q *ask.Request) ([]byte, error) {
	count := q.Number("count", 16, 1, mostGames)
	if err := q.Err(); err != nil {
		return nil, err
	}
	got := l.take(ctx, count)
	if got.status != http.StatusOK {
		return nil, ask.Status(http.StatusBadGateway, errors.New(got.err()))
	}
	return got.body, nil
}

// take returns the last answer of the server, a new one if that is old.
func (l *Live) take(ctx context.Context, count int) passed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == count && time.Now().Before(l.until) {
		return l.last
	}
	got, err := l.ask(ctx, count)
	if err != nil {
		got.status, got.body = ask.Failed(ask.Status(http.StatusBadGateway, err))
	}
	if got.status == http.StatusTooManyRequests && l.last.status == http.StatusOK {
		return l.last // others watch too
	}
	l.last, l.count, l.until = got, count, time.Now().Add(refreshed)
	return got
}

func (l *Live) ask(ctx context.Context, count int) (passed, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	address := strings.TrimSuffix(strings.TrimPrefix(l.Address, "http://"), "/")
	url := fmt.Sprintf("http://%s/watch?count=%d", address, count)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return passed{}, fmt.Errorf("%w: want HOST:PORT, the address of serve --watch", err)
	}
	if l.Token != "" {
		q.Header.Set("Authorization", "Bearer "+l.Token)
	}
	reply, err := http.DefaultClient.Do(q)
	if err != nil {
		return passed{}, fmt.Errorf("%w: does a server run there with --watch?", err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, answerSize))
	return passed{reply.StatusCode, body}, err
}
