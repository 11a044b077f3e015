package commands

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
)

// ask sends JSON to the server of OpenEnv and returns the answer.
func (p *process) ask(t *testing.T, path, body string) (out map[string]any) {
	t.Helper()
	r, err := http.Post(p.openenv+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.StatusCode, string(b))
	require.NoError(t, json.Unmarshal(b, &out), string(b))
	return out
}

// observed is the observation of an answer.
func observed(answer map[string]any) map[string]any { return answer["observation"].(map[string]any) }

// serve --openenv serves its game beside --listen or alone, and drains.
func TestServeOpenEnv(t *testing.T) {
	p := serve(t, "--openenv", "127.0.0.1:0", "--game", "BlockBattle-v0", "--opponents", "random", "--illegal-penalty", "2",
		"--reward", "score", "--step-limit", "2", "--drain", "2m", "--legal-moves", "hide")
	require.Empty(t, p.ready)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, p.openenv)
	require.NoError(t, health(t.Context(), p.openenv+"/health?", &program.Console{Out: io.Discard}))
	webtest.Refuses(t, strings.TrimPrefix(p.openenv, "http://"), "/health", http.StatusOK)
	require.Empty(t, observed(p.ask(t, "/reset", `{"seed": 1}`))["legal_moves"])
	called := observed(p.ask(t, "/step", `{"action": {"type": "call_tool", "tool_name": "children",
		"arguments": {"values": true}}}`))
	require.Nil(t, called["error"])
	children := called["result"].(map[string]any)["children"].([]any)
	require.NotEmpty(t, children)
	require.True(t, slices.ContainsFunc(children, func(c any) bool { return c.(map[string]any)["value"] != nil }))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	for step := range 2 { // over the connection that is open
		r := p.ask(t, "/step", `{"action": {"move": "no"}}`)
		require.EqualValues(t, -2, r["reward"])
		require.Equal(t, step == 1, r["done"])
	}
	require.NoError(t, p.Process.Signal(syscall.SIGKILL))
}

// The tools of --openenv are those of --openenv-tools.
func TestOpenEnvTools(t *testing.T) {
	p := serve(t, "--openenv", "127.0.0.1:0", "--game", "wintetris", "--openenv-tools", "play,observe")
	listed := p.ask(t, "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	require.Len(t, listed["result"].(map[string]any)["tools"], 2)
	require.NoError(t, p.Process.Kill())
}

// serve --record has the games of --openenv in its file when the server ends, after those that were there.
func TestOpenEnvRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	for games := 1; games <= 2; games++ {
		p := serve(t, "--openenv", "127.0.0.1:0", "--game", "WinTetris-v0", "--step-limit", "1", "--record", path)
		p.ask(t, "/reset", `{"seed": 7, "episode_id": "e"}`)
		p.ask(t, "/step", `{"episode_id": "e", "action": {"move": "r0 x3"}}`)
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		p.ends(t)
		in, err := record.Open(path)
		require.NoError(t, err)
		count := 0
		for rec, err := range in.All() {
			require.NoError(t, err)
			require.Equal(t, "wintetris", rec.Game)
			require.Equal(t, "e", rec.Meta["episode_id"])
			count++
		}
		require.NoError(t, in.Close())
		require.Equal(t, games, count)
	}
}

// What --openenv cannot serve is refused when the server starts.
func TestOpenEnvRefuses(t *testing.T) {
	for _, args := range []string{"--game wintetris", "--openenv 127.0.0.1:0", "--listen tcp:127.0.0.1:0 --game wintetris",
		"--openenv 127.0.0.1:0 --game wintetris --allowed-host a:80",
		"--openenv 127.0.0.1:0 --game wintetris --openenv-tools=",
		"--openenv 127.0.0.1:0 --game wintetris --legal-moves none", "--listen tcp:127.0.0.1:0 --record games.jsonl"} {
		exits(t, 2, "serve "+args)
	}
	for _, args := range []string{
		"--openenv 127.0.0.1:0 --game chess", "--openenv 127.0.0.1:0 --game wintetris --seat 1",
		"--openenv 127.0.0.1:0 --game blockbattle --opponents smith", "--openenv 127.0.0.1:0 --game blockbattle --seats 3",
		"--openenv 0.0.0.0:0 --game wintetris", "--openenv 127.0.0.1:0 --game wintetris --idle 1ms",
		"--openenv nowhere --game wintetris",
		"--openenv tls:127.0.0.1:0 --game wintetris", "--openenv 127.0.0.1:0 --game wintetris --illegal-penalty=-1",
		"--openenv 127.0.0.1:0 --game wintetris --step-reward=-1", "--openenv 127.0.0.1:0 --game wintetris --step-limit=-1",
		"--openenv 127.0.0.1:0 --game wintetris --openenv-tools play,pley",
		"--openenv 127.0.0.1:0 --game wintetris --record /",
	} {
		exits(t, 1, "serve "+args)
	}
}
