package openenv

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"blockyard/rpc/session/limits"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

// A bearer is a transport that sends a token.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(q)
}

// connect opens a session of MCP with a token.
func (w *world) connect(t *testing.T, token string) (*mcp.ClientSession, error) {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.url + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
}

// call calls a tool that does not fail, and returns its text.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) string {
	t.Helper()
	text, failed := callAny(t, s, tool, arguments)
	require.False(t, failed, text)
	return text
}

func callAny(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// Each session of MCP plays games of its own with the tools, until it ends.
func TestMCP(t *testing.T) {
	w := start(t, "blockbattle", server.Config{}, nil)
	a, err := w.connect(t, "")
	require.NoError(t, err)
	b, err := w.connect(t, "")
	require.NoError(t, err)
	list, err := a.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 11)
	for _, tool := range list.Tools {
		reads := slices.Contains([]string{"legal_moves", "rules", "render", "children"}, tool.Name)
		require.Equal(t, reads, tool.Annotations.ReadOnlyHint, tool.Name)
	}
	for seed, s := range []*mcp.ClientSession{a, b} {
		text := call(t, s, "observe", map[string]any{"new_game": true, "seed": seed})
		require.Contains(t, text, "round 1")
	}
	moves := call(t, a, "legal_moves", nil)
	text := call(t, a, "play", map[string]any{"move": strings.Split(moves, "\n")[0]})
	require.Contains(t, text, "round 2")
	text, failed := callAny(t, a, "play", map[string]any{})
	require.True(t, failed)
	require.Contains(t, text, "the arguments have no move")
	picture := call(t, b, "render", nil)
	require.Contains(t, picture, "round 1", "b plays its own game")
	require.Equal(t, 2, w.guests.Counts().Sessions)
	require.NoError(t, a.Close())
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 1 }, patience, time.Millisecond)
	require.NoError(t, w.Close())
	_, err = b.CallTool(t.Context(), &mcp.CallToolParams{Name: "render"})
	require.Error(t, err)
}

// Sessions of MCP need the token too, and have a limit.
func TestMCPIsLimited(t *testing.T) {
	most := limits.DefaultLimits()
	most.MaxSessions = 2
	w := start(t, "wintetris", server.Config{Limits: most, Tokens: []limits.Token{{Name: "ann", Secret: "a"}}}, nil)
	_, err := w.connect(t, "b")
	require.Error(t, err)
	for range 2 {
		s, err := w.connect(t, "a")
		require.NoError(t, err)
		call(t, s, "observe", nil)
	}
	_, err = w.connect(t, "a")
	require.Error(t, err)
	status, e := w.ask(t, "POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "initialize"}`, "Authorization", "Bearer a",
		"Accept", "application/json, text/event-stream")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, e["detail"], "--max-sessions")
}

// A client first asks for the versions of the protocol. That takes no place: the place is its session's, which follows.
func TestMCPVersionsTakeNoPlace(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, nil)
	var asked []int // sessions after each such question, before its answer is sent
	w.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, q mcp.Request) (mcp.Result, error) {
			r, err := next(ctx, method, q)
			if method == "server/discover" {
				asked = append(asked, w.guests.Counts().Sessions)
			}
			return r, err
		}
	})
	for range 2 {
		_, err := w.connect(t, "")
		require.NoError(t, err)
	}
	require.Equal(t, []int{0, 1}, asked)
}

// A session of MCP counts for its token from its beginning and belongs to
// its token: another one can neither use nor end it.
func TestMCPSessionsBelongToATokenAndCount(t *testing.T) {
	w := start(t, "wintetris", server.Config{Tokens: []limits.Token{
		{Name: "ann", Secret: "a", MaxSessions: 1}, {Name: "bob", Secret: "b"}}}, nil)
	s, err := w.connect(t, "a")
	require.NoError(t, err)
	require.Equal(t, 1, w.guests.Counts().Sessions, "before any tool is called")
	for range 63 {
		_, err := w.connect(t, "a")
		require.ErrorContains(t, err, "Service Unavailable")
	}
	require.Equal(t, 1, w.guests.Counts().Sessions)
	for _, method := range []string{"POST", "GET", "DELETE"} {
		status, e := w.ask(t, method, "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`, "Authorization", "Bearer b",
			"Accept", "application/json, text/event-stream", "Content-Type", "application/json", "Mcp-Session-Id", s.ID())
		require.Equal(t, http.StatusNotFound, status, method)
		require.Contains(t, e["detail"], "no episode")
	}
	call(t, s, "observe", nil)
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 0 }, patience, time.Millisecond)
	_, err = w.connect(t, "a")
	require.NoError(t, err)
}
