package openenv

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
)

// answered is what the server answers, without a connection.
func answered(t *testing.T, s *Server, method, path, body, session string) *httptest.ResponseRecorder {
	t.Helper()
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
		g, err := games.Lookup("wintetris")
		require.NoError(t, err)
		guests := server.New(server.Config{Limits: limits.DefaultLimits()})
		s, err := New(Config{Game: g, Ledger: guests.Ledger()})
		require.NoError(t, err)
		require.Equal(t, 30*time.Minute, s.c.Idle)
		require.Equal(t, http.StatusOK, answered(t, s, "POST", "/reset", `{"seed": 1, "episode_id": "e"}`, "").Code)
		p, err := s.find(nil, "e")
		require.NoError(t, err)
		out, err := fork(p, forkArguments{N: 1})
		require.NoError(t, err)
		branch := out.value.(forks).Branches[0]
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
