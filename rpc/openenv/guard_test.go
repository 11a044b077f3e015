package openenv

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/webtest"
	"blockyard/rpc/session/limits"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/rpc/server"
)

// A web page of another site reaches nothing, neither by its Origin nor, after DNS rebinding, by its Host: also not by a
// WebSocket.
func TestWebPagesAreRefused(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, func(c *Config) { c.Names = web.Names{"games.example.org"} })
	own := strings.TrimPrefix(w.url, "http://")
	webtest.Refuses(t, own, "/health", http.StatusOK)
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{own, "http://" + own, http.StatusSwitchingProtocols}, {"GAMES.example.org:80", "", http.StatusSwitchingProtocols},
		{"evil.example.org", "", http.StatusForbidden}, {own, "http://evil.example.org", http.StatusForbidden},
		{own, "null", http.StatusForbidden},
	} {
		o := &websocket.DialOptions{Host: c.host, HTTPHeader: http.Header{}}
		if c.origin != "" {
			o.HTTPHeader.Set("Origin", c.origin)
		}
		conn, reply, err := websocket.Dial(t.Context(), w.url+"/ws", o)
		require.NotNil(t, reply, err)
		require.Equal(t, c.status, reply.StatusCode, c)
		if err == nil {
			conn.CloseNow()
		}
	}
}

// With tokens, all but facts need one, episodes belong to theirs, and its limits hold.
func TestTokens(t *testing.T) {
	w := start(t, "wintetris", server.Config{Tokens: []limits.Token{
		{Name: "ann", Secret: "a", MaxSessions: 2}, {Name: "bob", Secret: "b"}}}, nil)
	for _, path := range []string{"/health", "/metadata", "/schema", "/openapi.json"} {
		w.want(t, http.StatusOK, "GET", path, "")
	}
	for _, header := range []string{"", "Bearer c", "Basic a", "a"} {
		for _, path := range []string{"POST /reset", "POST /step", "GET /state", "GET /ws", "POST /mcp"} {
			method, path, _ := strings.Cut(path, " ")
			w.refuses(t, http.StatusUnauthorized, "Authorization: Bearer TOKEN", method, path, "{}", "Authorization", header)
		}
	}
	ann, bob := []string{"Authorization", "Bearer a"}, []string{"Authorization", "bearer b"}
	w.want(t, http.StatusOK, "POST", "/reset", `{"episode_id": "e"}`, ann...)
	w.want(t, http.StatusNotFound, "GET", "/state?episode_id=e", "", bob...)
	p := w.dial(t, "a")
	p.plays(`{"type": "reset"}`)
	kind, e := w.dial(t, "a").receive()
	require.Equal(t, "error", kind)
	require.Equal(t, "CAPACITY_REACHED", e["code"])
	require.Contains(t, e["message"], "max_sessions")
	w.refuses(t, http.StatusServiceUnavailable, "max_sessions", "POST", "/reset", `{"episode_id": "f"}`, ann...)
	w.dial(t, "b").plays(`{"type": "reset"}`)
}

// An episode has one WebSocket: another one ends it.
func TestEpisodesHaveOneSocket(t *testing.T) {
	w := start(t, "wintetris", server.Config{Tokens: []limits.Token{{Name: "ann", Secret: "a", MaxSessions: 1}}}, nil)
	_, r := w.ask(t, "POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}`,
		"Authorization", "Bearer a")
	path := "/ws?session_id=" + r["result"].(map[string]any)["session_id"].(string)
	const sockets = 128
	var all []*player
	for range sockets {
		p := w.dialAt(t, path, "a")
		kind, _ := p.send(`{"type": "state"}`)
		require.Equal(t, "state", kind)
		all = append(all, p)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, p := range all[:sockets-1] {
		_, _, err := p.Read(ctx)
		require.Error(t, err)
	}
	require.NoError(t, ctx.Err(), "the server has closed them")
	all[sockets-1].plays(`{"type": "reset"}`)
}

// A thinker never answers until its game ends.
type thinker struct{ begun chan struct{} }

func (a *thinker) Act(ctx context.Context, _ env.State, _ int) (env.Action, error) {
	a.begun <- struct{}{}
	<-ctx.Done()
	return env.None, ctx.Err()
}

// A session that is closed while its opponent thinks is no failure of the server: nothing is logged as an error.
func TestClosedWhileTheOpponentThinks(t *testing.T) {
	var lines bytes.Buffer
	opponent := &thinker{make(chan struct{})}
	w := start(t, "blocking", server.Config{}, func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&lines, nil))
		c.Opponent = func(uint64) (env.Agent, error) { return opponent, nil }
	})
	status := make(chan int)
	go func() {
		code, _ := w.ask(t, "POST", "/reset", `{"episode_id": "e", "seat": 1, "seed": 1}`)
		status <- code
	}()
	<-opponent.begun
	p, err := w.find(nil, "e")
	require.NoError(t, err)
	p.close()
	require.Equal(t, http.StatusNotFound, <-status)
	require.NoError(t, w.Close())
	require.NotContains(t, lines.String(), "ERROR")
}

// An episode over HTTP that is over makes room for another one.
func TestFinishedEpisodesMakeRoom(t *testing.T) {
	most := limits.DefaultLimits()
	most.MaxSessions = 2
	w := start(t, "wintetris", server.Config{Limits: most}, func(c *Config) { c.StepLimit = 1 })
	reset := func(id string) int {
		status, _ := w.ask(t, "POST", "/reset", `{"episode_id": "`+id+`"}`)
		return status
	}
	require.Equal(t, http.StatusOK, reset("a"))
	require.Equal(t, http.StatusOK, reset("b"))
	require.Equal(t, http.StatusServiceUnavailable, reset("c"))
	r := w.want(t, http.StatusOK, "POST", "/step", `{"action": {"move": ""}, "episode_id": "a"}`)
	require.Equal(t, true, r["done"])
	require.Equal(t, http.StatusOK, reset("c"))
	w.want(t, http.StatusNotFound, "GET", "/state?episode_id=a", "")
	require.Equal(t, 2, w.guests.Counts().Sessions)
}

// A session that nobody uses is closed.
func TestIdleSessionsAreClosed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var w *world
	var p *player
	for idle := time.Second; w == nil || w.guests.Counts().Sessions < 2; idle *= 2 { // a busy machine needs longer for two
		w = start(t, "wintetris", server.Config{}, func(c *Config) { c.Idle = idle })
		p = w.dial(t, "")
		_ = p.Write(ctx, websocket.MessageText, []byte(`{"type": "reset"}`))
		_, _, _ = p.Read(ctx)
		w.ask(t, "POST", "/reset", "{}")
	}
	_, _, err := p.Read(ctx)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "the server has closed it")
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 0 }, patience, time.Millisecond)
	require.NotZero(t, w.guests.Idle())
	require.Eventually(t, func() bool { // a session that is being closed is still found
		status, _ := w.ask(t, "POST", "/step", `{"action": {"move": "x"}}`)
		return status == http.StatusBadRequest
	}, patience, time.Millisecond)
}

// A client that does not read is disconnected.
func TestSlowReaders(t *testing.T) {
	most := limits.DefaultLimits()
	most.WriteTimeout = 100 * time.Millisecond
	w := start(t, "blocking", server.Config{Limits: most}, nil)
	p := w.dial(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil && w.guests.Counts().Sessions > 0 {
		if p.Write(ctx, websocket.MessageText, []byte(`{"type": "reset"}`)) != nil {
			break
		}
	}
	require.NoError(t, ctx.Err())
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 0 }, patience, time.Millisecond)
}

// A server that drains takes no new sessions; those that exist go on until Close.
func TestDrain(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, nil)
	p := w.dial(t, "")
	_, r := p.send(`{"type": "reset"}`)
	w.Drain()
	kind, _ := p.step(movesOf(r)[0])
	require.Equal(t, "observation", kind)
	kind, e := w.dial(t, "").receive()
	require.Equal(t, "error", kind)
	require.Contains(t, e["message"], "about to end")
	w.want(t, http.StatusServiceUnavailable, "POST", "/reset", "")
	require.NoError(t, w.Close())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err := p.Read(ctx)
	require.Error(t, err)
	require.NoError(t, ctx.Err())
}
