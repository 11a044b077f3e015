package openenv

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

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
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err := p.Read(ctx)
	require.ErrorContains(t, err, "StatusMessageTooBig")
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
		if _, err := parseAction(m.Data); err != nil {
			require.IsType(t, new(failure), err)
		}
		if _, err := parseReset(m.Data); err != nil {
			require.IsType(t, new(failure), err)
		}
	})
}
