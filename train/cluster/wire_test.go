package cluster

import (
	"encoding/json"
	"strings"
	"testing"

	"blockyard/train/selfplay"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

var sample = taskMessage{Version: Version, Check: "c0ffee", Try: 1, Task: selfplay.Task{
	Iteration: 3, Slot: 2, Net: "abc", Rollout: selfplay.Rollout{Kind: "backup", Steps: 4},
	Start: selfplay.GameSlot{State: "AAAA", Word: "1"},
}}

func TestTaskMessages(t *testing.T) {
	got, err := parseTask(mustJSON(sample))
	require.NoError(t, err)
	require.Equal(t, sample, *got)
	require.Equal(t, "3-2-1", got.messageID())
	for bad, says := range map[string]string{
		"hello":                            "not a task",
		`{"version":2}`:                    "a task in version 2 of the format, want 1: run the same program",
		`{"version":1,"speed":3}`:          "unknown field",
		`{"version":1,"task":{"slot":-1}}`: "slot -1",
	} {
		_, err := parseTask([]byte(bad))
		require.ErrorContains(t, err, says)
	}
}

func TestResultHeaders(t *testing.T) {
	r := resultMessage{id: "3-2", worker: "a-b_C9", object: "ff", busy: 12}
	got, err := parseResult(r.header())
	require.NoError(t, err)
	require.Equal(t, r, *got)
	for _, c := range []struct{ key, value, says string }{
		{taskHeader, "", "the task"},
		{taskHeader, "3", "the task"},
		{taskHeader, "03-2", "the task"},
		{taskHeader, "-3-2", "the task"},
		{workerHeader, "", "1 to 64 letters"},
		{workerHeader, strings.Repeat("a", 65), "1 to 64 letters"},
		{workerHeader, "a b", "letters, digits"},
		{busyHeader, "-1", "microseconds"},
		{busyHeader, "soon", "microseconds"},
	} {
		h := r.header()
		h.Set(c.key, c.value)
		_, err := parseResult(h)
		require.ErrorContains(t, err, c.says, "%s: %q", c.key, c.value)
	}
}

// What parseTask accepts is written to the same message.
func FuzzTask(f *testing.F) {
	f.Add(mustJSON(sample))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseTask(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(m)
		require.NoError(t, err)
		again, err := parseTask(text)
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}

// What parseResult accepts has the header that it was read from.
func FuzzResult(f *testing.F) {
	f.Add("3-2", "worker", "", "12")
	f.Add("0-0", "a", "ff", "0")
	f.Fuzz(func(t *testing.T, task, worker, object, busy string) {
		r, err := parseResult(nats.Header{taskHeader: {task}, workerHeader: {worker}, objectHeader: {object}, busyHeader: {busy}})
		if err != nil {
			return
		}
		again, err := parseResult(r.header())
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.Equal(t, task, again.id)
	})
}
