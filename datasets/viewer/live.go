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

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
)

// A Live shows games while clients play them on a server, as its address of serve --watch tells them.
type Live struct {
	Address string // HOST:PORT of --watch
	Token   string // of the clients whose games are shown; may be empty if the server has no tokens
	web.PageFlags

	mu    sync.Mutex // one request to the server at a time
	last  []byte     // the server's answer, or
	err   error      // why there is none
	count int        // of the request
	until time.Time
}

const (
	refreshed  = 250 * time.Millisecond // how long an answer of the server is kept, for all pages together
	mostGames  = 64
	answerSize = 8 << 20 // bytes
)

// Serve prints the address of the page on out and serves it until ctx is done. It fails without the server.
func (l *Live) Serve(ctx context.Context, out, errs io.Writer) error {
	if _, err := l.take(ctx, 1); err != nil && !errors.As(err, new(busy)) {
		return err
	}
	listener, err := web.Listen(l.Listen, "/", l.Open, out, errs)
	if err != nil {
		return err
	}
	return web.Serve(ctx, listener, l.routes(), web.Limits{Names: l.Names})
}

// busy is the error of a server that many watch.
type busy struct{ error }

func (l *Live) routes() http.Handler {
	return Serving("live.html", ask.Answers{"GET /api/live": l.answer}, 0)
}

func (l *Live) answer(ctx context.Context, q *ask.Request) ([]byte, error) {
	count := q.Number("count", 16, 1, mostGames)
	if err := q.Err(); err != nil {
		return nil, err
	}
	body, err := l.take(ctx, count)
	if err != nil {
		err = ask.Status(http.StatusBadGateway, err)
	}
	return body, err
}

// take returns the last answer of the server, a new one if that is old.
func (l *Live) take(ctx context.Context, count int) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == count && time.Now().Before(l.until) {
		return l.last, l.err
	}
	body, err := l.ask(ctx, count)
	if errors.As(err, new(busy)) && l.last != nil {
		return l.last, nil // others watch too
	}
	l.last, l.err, l.count, l.until = body, err, count, time.Now().Add(refreshed)
	return body, err
}

func (l *Live) ask(ctx context.Context, count int) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	address := strings.TrimSuffix(strings.TrimPrefix(l.Address, "http://"), "/")
	url := fmt.Sprintf("http://%s/watch?count=%d", address, count)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: want HOST:PORT, the address of serve --watch", err)
	}
	if l.Token != "" {
		q.Header.Set("Authorization", "Bearer "+l.Token)
	}
	reply, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, fmt.Errorf("%w: does a server run there with --watch?", err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, answerSize))
	if err != nil || reply.StatusCode == http.StatusOK {
		return body, err
	}
	var told struct{ Error string }
	if json.Unmarshal(body, &told) != nil || told.Error == "" {
		return nil, fmt.Errorf("the server responded with status %d: is it the address of serve --watch?", reply.StatusCode)
	}
	if err = errors.New(told.Error); reply.StatusCode == http.StatusTooManyRequests {
		err = busy{err}
	}
	return nil, err
}
