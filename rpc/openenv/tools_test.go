package openenv

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

// named returns the names of tools in a list as JSON has it.
func named(t *testing.T, list any) (names []string) {
	t.Helper()
	b, err := json.Marshal(list)
	require.NoError(t, err)
	var tools []struct{ Name string }
	require.NoError(t, json.Unmarshal(b, &tools))
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

// A tool that is off is neither listed nor called, through any door, and a reset takes no state that only it might use.
func TestToolsThatAreOff(t *testing.T) {
	w := start(t, "wintetris", server.Config{}, func(c *Config) { c.Tools = []string{"play", "observe"} })
	session, err := w.connect(t, "")
	require.NoError(t, err)
	p := w.dial(t, "")
	overSocket := func(method, params string) map[string]any {
		_, out := p.send(fmt.Sprintf(`{"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": %q, "params": %s}}`,
			method, params))
		return out
	}
	step := func(action string) any {
		out := w.want(t, 200, "POST", "/step", fmt.Sprintf(`{"action": %s}`, action))
		return out["observation"]
	}
	stepOverSocket := func(action string) any {
		_, out := p.send(fmt.Sprintf(`{"type": "step", "data": %s}`, action))
		return out["observation"]
	}
	w.want(t, 200, "POST", "/reset", `{"seed": 1}`)
	p.send(`{"type": "reset", "data": {"seed": 1}}`)

	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	const listing = `{"type": "list_tools"}`
	for door, tools := range map[string]any{
		"MCP":            list.Tools,
		"JSON-RPC":       w.rpcCall(t, "tools/list", nil)["result"].(map[string]any)["tools"],
		"WebSocket, MCP": overSocket("tools/list", "{}")["result"].(map[string]any)["tools"],
		"HTTP":           step(listing).(map[string]any)["tools"],
		"WebSocket":      stepOverSocket(listing).(map[string]any)["tools"],
	} {
		require.ElementsMatch(t, []string{"observe", "play"}, named(t, tools), door)
	}

	_, before := p.send(`{"type": "state"}`)
	for _, name := range Tools() {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"move": "r0 x3"}})
		params := fmt.Sprintf(`{"name": %q, "arguments": {}}`, name)
		call := fmt.Sprintf(`{"type": "call_tool", "tool_name": %q}`, name)
		told := map[string]any{
			"JSON-RPC":       w.rpcCall(t, "tools/call", json.RawMessage(params))["error"],
			"WebSocket, MCP": overSocket("tools/call", params)["error"],
			"HTTP":           step(call).(map[string]any)["error"],
			"WebSocket":      stepOverSocket(call).(map[string]any)["error"],
		}
		if name == "play" || name == "observe" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, name)
		for door, told := range told {
			require.NotNil(t, told, "%s: %s", door, name)
			require.Contains(t, told.(map[string]any)["message"], fmt.Sprintf("no tool %q", name), door)
		}
	}
	_, after := p.send(`{"type": "state"}`)
	require.Equal(t, before, after)
	p.refused(`{"type": "reset", "data": {"state": "mine"}}`, "offers no restore")
	w.refuses(t, 400, "offers no restore", "POST", "/reset", `{"state": "mine"}`)
}

// Names that are no tools are refused, and those that are are listed.
func TestToolsAreNamed(t *testing.T) {
	for _, wrong := range [][]string{{""}, {"play", "pley"}, {"Play"}, {"play "}} {
		_, err := only(wrong)
		require.ErrorContains(t, err, "want some of observe,legal_moves,play,rules,render,children,fork,rewind,save,restore,release")
	}
	all, err := only(nil)
	require.NoError(t, err)
	require.Len(t, all, len(Tools()))
}
