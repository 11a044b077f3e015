package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/datasets/program/ops/opstest"
)

// rolloutOf plays a few moves with an illegal one, then one in a branch, and returns the state of the branch as JSON.
func rolloutOf(t *testing.T, reset string, flags ...string) string {
	t.Helper()
	p := serve(t, append(flags, "--openenv", "127.0.0.1:0")...)
	ask := func(path, body string) map[string]any { return observed(p.ask(t, path, body)) }
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
	_, state := opstest.Get(t, p.openenv+"/state?episode_id="+branch)
	require.NotContains(t, state, `"rewards":[]`)
	return state
}

// reverify runs the command, which ends with a status, and returns its output and errors.
func reverify(t *testing.T, status int, args ...string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	got := Program().Run(t.Context(), append([]string{"reverify"}, args...), &program.Console{Out: &o, Err: &e})
	require.Equal(t, status, got, e.String())
	return o.String(), e.String()
}

// TestReverify: stored rollouts give the same rewards again, and changed ones are found.
func TestReverify(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rollouts.jsonl")
	write := func(rollouts string) { require.NoError(t, os.WriteFile(file, []byte(rollouts), 0o600)) }
	duel := rolloutOf(t, `{"seed": 1, "seat": 1, "rules": "relabelled"}`, "--game=TetrisDuel-v0", "--opponents=random",
		"--illegal-penalty=0.5", "--step-reward=2")
	require.Contains(t, duel, ",-0.5,")
	drop := rolloutOf(t, `{"seed": 2}`, "--game=Dropblox-v0")

	fresh := filepath.Join(t.TempDir(), "again.jsonl")
	write(duel + "\n\n" + drop + "\n")
	out, _ := reverify(t, program.Done, file, "--write", fresh)
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
	write(duel + "\n" + string(text) + "\n")
	out, _ = reverify(t, program.Failed, file)
	require.Contains(t, out, file+":2: rewards [")

	for rollouts, wrong := range map[string]string{
		"{": "line 1", "3": "line 1", "{}": "line 1: it has no game", duel + "\n{}": "line 2: it has no game",
		strings.Replace(duel, "TetrisDuel-v0", "Nothing-v0", 1): "line 1", // no such game
	} {
		write(rollouts)
		_, says := reverify(t, program.Failed, file)
		require.Contains(t, says, wrong)
	}
}
