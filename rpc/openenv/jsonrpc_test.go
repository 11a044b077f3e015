package openenv

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

// rpcCall sends a request of plain JSON-RPC.
func (w *world) rpcCall(t *testing.T, method string, params any) map[string]any {
	t.Helper()
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	require.NoError(t, err)
	out := w.want(t, http.StatusOK, "POST", "/mcp", string(b))
	require.EqualValues(t, 7, out["id"])
	return out
}

// tool calls a tool that does not fail, and returns its text.
func (w *world) tool(t *testing.T, session, name string, arguments map[string]any) string {
	t.Helper()
	text, failed := w.callTool(t, session, name, arguments)
	require.False(t, failed, text)
	return text
}

// callTool calls a tool and returns its text, and whether it is an error.
func (w *world) callTool(t *testing.T, session, name string, arguments map[string]any) (string, bool) {
	t.Helper()
	out := w.rpcCall(t, "tools/call", map[string]any{"session_id": session, "name": name, "arguments": arguments})
	require.Nil(t, out["error"], out)
	result := out["result"].(map[string]any)
	return result["content"].([]any)[0].(map[string]any)["text"].(string), result["isError"] == true
}

// A model plays with the tools alone.
func TestTools(t *testing.T) {
	w := start(t, "blockbattle", server.Config{}, nil)
	list := w.rpcCall(t, "tools/list", nil)["result"].(map[string]any)["tools"].([]any)
	var names []string
	for _, tool := range list {
		names = append(names, tool.(map[string]any)["name"].(string))
		require.Equal(t, "object", tool.(map[string]any)["inputSchema"].(map[string]any)["type"])
	}
	require.Equal(t, []string{"observe", "legal_moves", "play", "rules", "render", "children", "fork",
		"rewind", "save", "restore", "release"}, names)
	id := w.rpcCall(t, "openenv/session/create", nil)["result"].(map[string]any)["session_id"].(string)
	rules := w.tool(t, id, "rules", nil)
	require.Contains(t, rules, "A move is text such as")
	require.Contains(t, rules, w.c.Rules)
	text := w.tool(t, id, "observe", map[string]any{"new_game": true, "seed": 3})
	require.Contains(t, text, "It is your turn.")
	require.Contains(t, text, "legal moves, such as: ")
	moves := w.tool(t, id, "legal_moves", nil)
	text = w.tool(t, id, "play", map[string]any{"move": strings.Split(moves, "\n")[0]})
	require.Contains(t, text, "round 2")
	require.Contains(t, text, "Reward: 0.")
	text = w.tool(t, id, "play", map[string]any{"move": "up"})
	require.Contains(t, text, `Not played: "up" is no move of blockbattle`)
	require.Contains(t, text, "Reward: -0.25.")
	picture := w.tool(t, id, "render", nil)
	require.Contains(t, picture, "player1     player2\n")
	again := w.tool(t, id, "observe", nil)
	require.Contains(t, again, "round 2")
	other := w.tool(t, "", "render", nil)
	require.Contains(t, other, "round 1", "without a session there is the episode without a name")
	for name, arguments := range map[string]map[string]any{
		"play": {}, "observe": {"seed": 3}, "render": {"size": 3}, "legal_moves": {"x": 1},
	} {
		text, failed := w.callTool(t, id, name, arguments)
		require.True(t, failed, name)
		require.NotEmpty(t, text)
	}
	closed := w.rpcCall(t, "openenv/session/close", map[string]any{"session_id": id})
	require.Equal(t, true, closed["result"].(map[string]any)["closed"])
	require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 1 }, patience, 1e6)
}

// What is not a request gets an error of JSON-RPC.
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

// The tools also work over a WebSocket, on the episode of its session, and on that of a session over HTTP.
func TestToolsOverWebSocket(t *testing.T) {
	w, p := begun(t, "wintetris", nil)
	kind, out := p.send(`{"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": {"name": "observe", "arguments": {}}}}`)
	require.Equal(t, "mcp", kind)
	require.Contains(t, out["result"].(map[string]any)["content"].([]any)[0].(map[string]any)["text"], "It is your turn.")
	require.Equal(t, 1, w.guests.Counts().Sessions, "it is the socket's own")
	id := w.rpcCall(t, "openenv/session/create", nil)["result"].(map[string]any)["session_id"].(string)
	w.tool(t, id, "observe", nil)
	attached := w.dialAt(t, "/ws?session_id="+id, "")
	_, state := attached.send(`{"type": "state"}`)
	require.NotNil(t, state["episode_id"])
	require.Equal(t, 2, w.guests.Counts().Sessions)
}
