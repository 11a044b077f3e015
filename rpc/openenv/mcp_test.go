package openenv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
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
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.url + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
}

// call calls a tool, which fails or not, and returns its text.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any, fails ...bool) string {
	r := envtest.Must(s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments}))
	require.Equal(t, len(fails) > 0, r.IsError, tool)
	return r.Content[0].(*mcp.TextContent).Text
}

// Each session of MCP plays games of its own with the tools, until it ends.
func TestMCP(t *testing.T) {
	w := start(t, "blockbattle", server.Config{}, nil)
	var sessions []*mcp.ClientSession
	for seed := range 2 {
		s := envtest.Must(w.connect(t, ""))
		require.Contains(t, call(t, s, "observe", map[string]any{"new_game": true, "seed": seed}), "round 1")
		sessions = append(sessions, s)
	}
	a, b := sessions[0], sessions[1]
	list := envtest.Must(a.ListTools(t.Context(), nil))
	require.Len(t, list.Tools, 11)
	for _, tool := range list.Tools {
		reads := slices.Contains([]string{"legal_moves", "rules", "render", "children"}, tool.Name)
		require.Equal(t, reads, tool.Annotations.ReadOnlyHint, tool.Name)
	}
	moves := call(t, a, "legal_moves", nil)
	require.Contains(t, call(t, a, "play", map[string]any{"move": strings.Split(moves, "\n")[0]}), "round 2")
	require.Contains(t, call(t, a, "play", map[string]any{}, true), "the arguments have no move")
	require.Contains(t, call(t, b, "render", nil), "round 1", "b plays its own game")
	require.Equal(t, 2, w.guests.Counts().Sessions)
	require.NoError(t, a.Close())
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 1 }, patience, time.Millisecond)
	require.NoError(t, w.Close())
	require.Error(t, envtest.Failed(b.CallTool(t.Context(), &mcp.CallToolParams{Name: "render"})))
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
		envtest.Must(w.connect(t, ""))
	}
	require.Equal(t, []int{0, 1}, asked)
}

// A session counts from its beginning, before any tool is called. Another token can neither use nor end it.
func TestMCPSessionsBelongToATokenAndCount(t *testing.T) {
	w := start(t, "wintetris", server.Config{Tokens: []limits.Token{
		{Name: "ann", Secret: "a", MaxSessions: 1}, {Name: "bob", Secret: "b"}}}, nil)
	s := envtest.Must(w.connect(t, "a"))
	require.Equal(t, 1, w.guests.Counts().Sessions, "before any tool is called")
	for range 63 {
		require.ErrorContains(t, envtest.Failed(w.connect(t, "a")), "Service Unavailable")
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
	envtest.Must(w.connect(t, "a"))
}

// rpcCall sends a request of plain JSON-RPC.
func (w *world) rpcCall(t *testing.T, method string, params any) map[string]any {
	b := envtest.Must(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
	out := w.want(t, http.StatusOK, "POST", "/mcp", string(b))
	require.EqualValues(t, 7, out["id"])
	return out
}

// tool calls a tool, which fails or not, and returns its text.
func (w *world) tool(t *testing.T, session, name string, arguments map[string]any, fails ...bool) string {
	out := w.rpcCall(t, "tools/call", map[string]any{"session_id": session, "name": name, "arguments": arguments})
	require.Nil(t, out["error"], out)
	result := out["result"].(map[string]any)
	require.Equal(t, len(fails) > 0, result["isError"] == true, result)
	return result["content"].([]any)[0].(map[string]any)["text"].(string)
}

// A model plays with the tools alone.
func TestTools(t *testing.T) {
	w := start(t, "blockbattle", server.Config{}, nil)
	list := w.rpcCall(t, "tools/list", nil)["result"].(map[string]any)["tools"]
	require.Equal(t, []string{"observe", "legal_moves", "play", "rules", "render", "children", "fork",
		"rewind", "save", "restore", "release"}, named(t, list))
	id := w.rpcCall(t, "openenv/session/create", nil)["result"].(map[string]any)["session_id"].(string)
	rules := w.tool(t, id, "rules", nil)
	envtest.Has(t, rules, "A move is text such as", w.c.Rules)
	text := w.tool(t, id, "observe", map[string]any{"new_game": true, "seed": 3})
	envtest.Has(t, text, "It is your turn.", "legal moves, such as: ")
	moves := w.tool(t, id, "legal_moves", nil)
	play := func(move string) string { return w.tool(t, id, "play", map[string]any{"move": move}) }
	require.Regexp(t, `(?s)round 2.*Reward: 0\.`, play(strings.Split(moves, "\n")[0]))
	require.Regexp(t, `(?s)Not played: "up" is no move of blockbattle.*Reward: -0\.25\.`, play("up"))
	require.Contains(t, w.tool(t, id, "render", nil), "player1     player2\n")
	require.Contains(t, w.tool(t, id, "observe", nil), "round 2")
	require.Contains(t, w.tool(t, "", "render", nil), "round 1", "without a session there is the episode without a name")
	for name, arguments := range map[string]map[string]any{
		"play": {}, "observe": {"seed": 3}, "render": {"size": 3}, "legal_moves": {"x": 1},
	} {
		require.NotEmpty(t, w.tool(t, id, name, arguments, true))
	}
	closed := w.rpcCall(t, "openenv/session/close", map[string]any{"session_id": id})
	require.Equal(t, true, closed["result"].(map[string]any)["closed"])
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 1 }, patience, 1e6)
}

func TestBadRequests(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, nil)
	for body, code := range map[string]float64{
		`{`: jsonrpc.CodeParseError, `[]`: jsonrpc.CodeInvalidRequest, `{}`: jsonrpc.CodeInvalidRequest, `{"jsonrpc": "1.0", "method": "tools/list"}`: jsonrpc.CodeInvalidRequest,
		`{"jsonrpc": "2.0", "method": "x", "id": {}}`:                                                    jsonrpc.CodeInvalidRequest,
		`{"jsonrpc": "2.0", "method": "tools/sing", "id": "a"}`:                                          jsonrpc.CodeMethodNotFound,
		`{"jsonrpc": "2.0", "method": "tools/call", "params": 3}`:                                        jsonrpc.CodeInvalidParams,
		`{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "sing"}}`:                         jsonrpc.CodeInvalidParams,
		`{"jsonrpc": "2.0", "method": "openenv/session/close"}`:                                          jsonrpc.CodeInvalidParams,
		`{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "render", "session_id": "none"}}`: rpcServer,
	} {
		out := w.want(t, http.StatusOK, "POST", "/mcp", body)
		require.Equal(t, "2.0", out["jsonrpc"])
		require.Equal(t, code, out["error"].(map[string]any)["code"], body)
		require.NotEmpty(t, out["error"].(map[string]any)["message"])
	}
}

// named returns the names of tools in a list as JSON has it, all of which take an object.
func named(t *testing.T, list any) (names []string) {
	var tools []struct {
		Name        string
		InputSchema struct{ Type string }
	}
	require.NoError(t, json.Unmarshal([]byte(jsonOf(list)), &tools))
	for _, tool := range tools {
		require.Equal(t, "object", tool.InputSchema.Type, tool.Name)
		names = append(names, tool.Name)
	}
	return names
}

// A tool that is off is neither listed nor called, through any door, and a reset takes no state that only it might use.
func TestToolsThatAreOff(t *testing.T) {
	w, p := begun(t, "wintetris", func(c *Config) { c.Tools = []string{"play", "observe"} })
	session := envtest.Must(w.connect(t, ""))
	overSocket := func(method, params string) map[string]any {
		_, out := p.send(fmt.Sprintf(`{"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": %q, "params": %s}}`,
			method, params))
		return out
	}
	step := func(action string) map[string]any {
		return observationOf(w.want(t, 200, "POST", "/step", `{"action": `+action+`}`))
	}
	stepOverSocket := func(action string) map[string]any {
		return observationOf(p.plays(`{"type": "step", "data": ` + action + `}`))
	}
	w.want(t, 200, "POST", "/reset", `{"seed": 1}`)

	list := envtest.Must(session.ListTools(t.Context(), nil))
	const listing = `{"type": "list_tools"}`
	for door, tools := range map[string]any{
		"MCP":            list.Tools,
		"JSON-RPC":       w.rpcCall(t, "tools/list", nil)["result"].(map[string]any)["tools"],
		"WebSocket, MCP": overSocket("tools/list", "{}")["result"].(map[string]any)["tools"],
		"HTTP":           step(listing)["tools"],
		"WebSocket":      stepOverSocket(listing)["tools"],
	} {
		require.ElementsMatch(t, []string{"observe", "play"}, named(t, tools), door)
	}

	before := p.state()
	for _, name := range Tools() {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"move": "r0 x3"}})
		params := fmt.Sprintf(`{"name": %q, "arguments": {}}`, name)
		call := fmt.Sprintf(`{"type": "call_tool", "tool_name": %q}`, name)
		told := map[string]any{
			"JSON-RPC":       w.rpcCall(t, "tools/call", json.RawMessage(params))["error"],
			"WebSocket, MCP": overSocket("tools/call", params)["error"],
			"HTTP":           step(call)["error"],
			"WebSocket":      stepOverSocket(call)["error"],
		}
		if name == "play" || name == "observe" {
			require.NoError(t, err)
			require.Nil(t, told["WebSocket, MCP"])
			continue
		}
		require.ErrorContains(t, err, name)
		for door, told := range told {
			require.NotNil(t, told, "%s: %s", door, name)
			require.Contains(t, told.(map[string]any)["message"], fmt.Sprintf("no tool %q", name), door)
		}
	}
	require.Equal(t, before, p.state())
	require.Equal(t, 3, w.guests.Counts().Sessions, "a socket's tools are those of its own episode")
	p.refused(`{"type": "reset", "data": {"state": "mine"}}`, "offers no restore")
	w.refuses(t, 400, "offers no restore", "POST", "/reset", `{"state": "mine"}`)
}

// Names that are no tools are refused, and those that are are listed.
func TestToolsAreNamed(t *testing.T) {
	const want = "want some of observe,legal_moves,play,rules,render,children,fork,rewind,save,restore,release"
	for _, wrong := range [][]string{{""}, {"play", "pley"}, {"Play"}, {"play "}} {
		require.ErrorContains(t, envtest.Failed(only(wrong)), want)
	}
	require.Len(t, envtest.Must(only(nil)), len(Tools()))
}
