package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
)

// rolloutOf plays a few moves with an illegal one, then one in a branch, and returns the state of the branch as JSON.
func rolloutOf(t *testing.T, reset string, flags ...string) string {
	t.Helper()
	url := serve(t, append(flags, "--openenv", "127.0.0.1:0")...).openenv
	ask := func(path, body string) map[string]any {
		status, out := post(t, url+path, body)
		require.Equal(t, http.StatusOK, status, out)
		return out["observation"].(map[string]any)
	}
	seen := ask("/reset", reset)
	legal := func(k int) string { return seen["legal_moves"].([]any)[k].(string) }
	for k := range 4 {
		move := "no"
		if k != 1 {
			move = legal(k)
		}
		seen = ask("/step", fmt.Sprintf(`{"action": {"move": %q}}`, move))
	}
	forked := ask("/step",
		`{"action": {"type": "call_tool", "tool_name": "fork", "arguments": {"n": 1, "seed": 3}}}`)["result"]
	branch := forked.(map[string]any)["branches"].([]any)[0].(string)
	ask("/step", fmt.Sprintf(`{"action": {"move": %q}, "episode_id": %q}`, legal(0), branch))
	r, err := http.Get(url + "/state?episode_id=" + branch)
	require.NoError(t, err)
	defer r.Body.Close()
	var state bytes.Buffer
	_, err = state.ReadFrom(r.Body)
	require.NoError(t, err)
	require.NotContains(t, state.String(), `"rewards":[]`)
	return state.String()
}

// TestReverify: stored rollouts give the same rewards again, and changed ones are found.
func TestReverify(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rollouts.jsonl")
	reverify := func(rollouts string, more ...string) (status int, out, says string) {
		require.NoError(t, os.WriteFile(file, []byte(rollouts), 0o600))
		var o, e bytes.Buffer
		status = Program().Run(t.Context(), append([]string{"reverify", file}, more...), &program.Console{Out: &o, Err: &e})
		return status, o.String(), e.String()
	}
	duel := rolloutOf(t, `{"seed": 1, "seat": 1, "rules": "relabelled"}`, "--game=TetrisDuel-v0", "--opponents=random",
		"--illegal-penalty=0.5", "--step-reward=2")
	require.Contains(t, duel, ",-0.5,")
	drop := rolloutOf(t, `{"seed": 2}`, "--game=Dropblox-v0")

	fresh := filepath.Join(t.TempDir(), "again.jsonl")
	status, out, says := reverify(duel+"\n\n"+drop+"\n", "--write", fresh)
	require.Equal(t, program.Done, status, says)
	require.Contains(t, out, "2 rollouts, 0 with other rewards")
	again, err := os.ReadFile(fresh)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(again)), "\n")
	require.Len(t, lines, 2)
	require.JSONEq(t, duel, lines[0])
	require.JSONEq(t, drop, lines[1])

	var changed map[string]any
	require.NoError(t, json.Unmarshal([]byte(drop), &changed))
	rewards := changed["rewards"].([]any)
	rewards[0] = rewards[0].(float64) + 1
	text, err := json.Marshal(changed)
	require.NoError(t, err)
	status, out, _ = reverify(duel + "\n" + string(text) + "\n")
	require.Equal(t, program.Failed, status)
	require.Contains(t, out, file+":2: rewards [")

	for rollouts, wrong := range map[string]string{
		"{": "line 1", "3": "line 1", "{}": "line 1: it has no game", duel + "\n{}": "line 2: it has no game",
		strings.Replace(duel, "TetrisDuel-v0", "Nothing-v0", 1): "line 1", // no such game
	} {
		status, _, says := reverify(rollouts)
		require.Equal(t, program.Failed, status)
		require.Contains(t, says, wrong)
	}
}
