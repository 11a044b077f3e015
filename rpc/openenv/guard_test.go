package openenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
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
	p.reset("{}")
	_, e := w.dial(t, "a").receive()
	require.Equal(t, "CAPACITY_REACHED", e["code"])
	require.Contains(t, e["message"], "max_sessions")
	w.refuses(t, http.StatusServiceUnavailable, "max_sessions", "POST", "/reset", `{"episode_id": "f"}`, ann...)
	w.dial(t, "b").plays(`{"type": "reset"}`)
}

// An episode has one WebSocket: another one ends it.
func TestEpisodesHaveOneSocket(t *testing.T) {
	w := start(t, "wintetris", server.Config{Tokens: []limits.Token{{Name: "ann", Secret: "a", MaxSessions: 1}}}, nil)
	const create = `{"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}`
	r := w.want(t, http.StatusOK, "POST", "/mcp", create, "Authorization", "Bearer a")
	path := "/ws?session_id=" + r["result"].(map[string]any)["session_id"].(string)
	const sockets = 128
	var all []*player
	for range sockets {
		p := w.dialAt(t, path, "a")
		kind, _ := p.send(`{"type": "state"}`)
		require.Equal(t, "state", kind)
		all = append(all, p)
	}
	for _, p := range all[:sockets-1] {
		require.Error(t, p.closed())
	}
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
	envtest.Must(w.find(nil, "e")).close()
	require.Equal(t, http.StatusNotFound, <-status)
	require.NoError(t, w.Close())
	require.NotContains(t, lines.String(), "ERROR")
}

// An episode over HTTP that is over makes room for another one.
func TestFinishedEpisodesMakeRoom(t *testing.T) {
	most := limits.DefaultLimits()
	most.MaxSessions = 2
	w := start(t, "wintetris", server.Config{Limits: most}, func(c *Config) { c.StepLimit = 1 })
	w.want(t, http.StatusOK, "POST", "/reset", `{"episode_id": "a"}`)
	w.want(t, http.StatusOK, "POST", "/reset", `{"episode_id": "b"}`)
	w.want(t, http.StatusServiceUnavailable, "POST", "/reset", `{"episode_id": "c"}`)
	r := w.want(t, http.StatusOK, "POST", "/step", `{"action": {"move": ""}, "episode_id": "a"}`)
	require.Equal(t, true, r["done"])
	w.want(t, http.StatusOK, "POST", "/reset", `{"episode_id": "c"}`)
	w.want(t, http.StatusNotFound, "GET", "/state?episode_id=a", "")
	require.Equal(t, 2, w.guests.Counts().Sessions)
}

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
	require.Error(t, p.closed())
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
	p.reset("{}")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for p.Write(ctx, websocket.MessageText, []byte(`{"type": "reset"}`)) == nil {
	}
	require.NoError(t, ctx.Err())
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 0 }, patience, time.Millisecond)
}

// A server that drains takes no new sessions; those that exist go on until Close.
func TestDrain(t *testing.T) {
	w, p := begun(t, "wintetris", nil)
	w.Drain()
	p.plays(`{"type": "step", "data": {"move": "any"}}`)
	_, e := w.dial(t, "").receive()
	require.Contains(t, e["message"], "about to end")
	w.want(t, http.StatusServiceUnavailable, "POST", "/reset", "")
	require.NoError(t, w.Close())
	require.Error(t, p.closed())
}

// Requests whose body never comes, more than there may be connections, keep nobody out.
func TestBodiesThatNeverCome(t *testing.T) {
	w := start(t, "blocking", server.Config{}, nil)
	address := strings.TrimPrefix(w.url, "http://")
	for range 2 * 128 { // by default, 64 sessions may have 128 connections
		c := envtest.Closing(t, envtest.Must(net.Dial("tcp", address)))
		envtest.Must(fmt.Fprintf(c, "POST /reset HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n{", address))
	}
	w.want(t, http.StatusOK, "GET", "/health", "")
}

// answered is what the server answers, without a connection.
func answered(t *testing.T, s *Server, method, path, body, session string) *httptest.ResponseRecorder {
	q := httptest.NewRequest(method, path, strings.NewReader(body))
	q.Host = "localhost"
	q.Header.Set("Content-Type", "application/json")
	if path == "/mcp" {
		q.Header.Set("Accept", "application/json, text/event-stream")
	}
	if session != "" {
		q.Header.Set("Mcp-Session-Id", session)
	}
	out := httptest.NewRecorder()
	s.Handler().ServeHTTP(out, q)
	return out
}

// A model that thinks for 20 minutes about each move keeps its session, its branches and its MCP session. After the idle
// time all are gone. No time passes.
func TestSlowModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := envtest.Must(games.Lookup("wintetris"))
		guests := server.New(server.Config{Limits: limits.DefaultLimits()})
		s := envtest.Must(New(Config{Game: g, Ledger: guests.Ledger()}))
		require.Equal(t, 30*time.Minute, s.c.Idle)
		require.Equal(t, http.StatusOK, answered(t, s, "POST", "/reset", `{"seed": 1, "episode_id": "e"}`, "").Code)
		p := envtest.Must(s.find(nil, "e"))
		branch := envtest.Must(fork(p, forkArguments{N: 1})).value.(forks).Branches[0]
		hello := answered(t, s, "POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
			{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "slow", "version": "1"}}}`, "")
		require.Equal(t, http.StatusOK, hello.Code, hello.Body.String())
		id := hello.Header().Get("Mcp-Session-Id")
		answered(t, s, "POST", "/mcp", `{"jsonrpc": "2.0", "method": "notifications/initialized"}`, id)
		for range 3 {
			time.Sleep(20 * time.Minute)
			r := answered(t, s, "POST", "/step", `{"action": {"move": "r0 x3"}, "episode_id": "`+branch+`"}`, "")
			require.Equal(t, http.StatusOK, r.Code, "a branch keeps what it comes from")
			r = answered(t, s, "POST", "/mcp", `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
				{"name": "play", "arguments": {"move": "r0 x3"}}}`, id)
			require.Contains(t, r.Body.String(), "legal moves, such as")
		}
		require.Equal(t, 3, guests.Counts().Sessions)
		r := answered(t, s, "POST", "/step", `{"action": {"move": "r0 x3"}, "episode_id": "e"}`, "")
		require.Equal(t, http.StatusOK, r.Code)
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		require.Zero(t, guests.Counts().Sessions)
		r = answered(t, s, "POST", "/step", `{"action": {"move": "r0 x3"}, "episode_id": "e"}`, "")
		require.Equal(t, http.StatusNotFound, r.Code)
		require.NoError(t, s.Close())
	})
}

// What is not a message is refused by name, and the session goes on.
func TestBadMessages(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, nil)
	p := w.dial(t, "")
	for _, c := range []struct{ text, code, says string }{
		{`{`, "INVALID_JSON", "not JSON"},
		{``, "INVALID_JSON", "not JSON"},
		{"\xff", "INVALID_JSON", "not JSON"},
		{`[]`, "VALIDATION_ERROR", "no JSON object"},
		{`null`, "VALIDATION_ERROR", "no JSON object"},
		{`{"type": 3}`, "VALIDATION_ERROR", "message: type is a number, want a string"},
		{`{"type": "reset", "more": 1}`, "VALIDATION_ERROR", `unknown field "more"`},
		{`{"type": "jump"}`, "UNKNOWN_TYPE", `type "jump": want reset, step`},
		{`{}`, "UNKNOWN_TYPE", `type ""`},
		{`{"type": "reset", "data": {"seed": -1}}`, "VALIDATION_ERROR", "seed is a number -1, want a whole number, at least 0"},
		{`{"type": "reset", "data": {"seed": "x"}}`, "VALIDATION_ERROR", "seed is a string, want a whole number"},
		{`{"type": "reset", "data": {"seat": 1}}`, "VALIDATION_ERROR", "seat is 1, want 0 to 0"},
		{`{"type": "reset", "data": {"episode_id": "` + strings.Repeat("x", 300) + `"}}`, "VALIDATION_ERROR", "300 bytes"},
		{`{"type": "reset", "data": 7}`, "VALIDATION_ERROR", "reset is no JSON object"},
		{`{"type": "step"}`, "VALIDATION_ERROR", "action is no JSON object"},
		{`{"type": "step", "data": {}}`, "VALIDATION_ERROR", "action has no move"},
		{`{"type": "step", "data": {"move": 1}}`, "VALIDATION_ERROR", "move is a number, want a string"},
		{`{"type": "step", "data": {"move": "r", "x": 1}}`, "VALIDATION_ERROR", `unknown field "x"`},
		{`{"type": "step", "data": {"move": "r"}}`, "EXECUTION_ERROR", "send a reset first"},
	} {
		kind, e := p.send(c.text)
		require.Equal(t, "error", kind, c.text)
		require.Equal(t, c.code, e["code"], c.text)
		require.Contains(t, e["message"], c.says, c.text)
	}
	p.plays(`{"type": "reset", "data": null}`)
}

// A message or body over the limit is refused, and costs only its sender.
func TestLargeMessages(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, nil)
	large := `{"type": "step", "data": {"move": "` + strings.Repeat("x", mostMessage) + `"}}`
	p := w.dial(t, "")
	require.NoError(t, p.Write(t.Context(), 1, []byte(large)))
	require.ErrorContains(t, p.closed(), "StatusMessageTooBig")
	w.refuses(t, http.StatusRequestEntityTooLarge, "more than 65536 bytes", "POST", "/step", large)
	for body, says := range map[string]string{"{": "unexpected EOF", "3": "no JSON object", `{"action": {}}`: "no move",
		`{"action": {"move": "x"}} {}`: "more after its end"} {
		w.refuses(t, http.StatusUnprocessableEntity, says, "POST", "/step", body)
	}
}

// Whatever a client sends, the parser answers with a message or with an error for the client.
func FuzzMessage(f *testing.F) {
	for _, text := range []string{`{"type": "reset", "data": {"seed": 7, "seat": 0}}`, `{"type": "step", "data": {"move": "x"}}`,
		`{"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "play"}}}`, `{`, `[]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseMessage(b)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.True(t, json.Valid(b))
		for _, err := range []error{envtest.Failed(parseAction(m.Data)), envtest.Failed(parseReset(m.Data))} {
			if err != nil {
				require.IsType(t, new(failure), err)
			}
		}
	})
}
