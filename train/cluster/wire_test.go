package cluster

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/train/selfplay"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

var sample = taskMessage{Version: Version, Check: "c0ffee", Try: 1, Iteration: 3, First: 2, Net: "abc",
	Rollout: selfplay.Rollout{Kind: "backup", Steps: 4},
	Starts:  []selfplay.GameSlot{{State: "AAAA", Word: "1"}, {State: "BBBB", Word: "2"}},
}

func TestTaskMessages(t *testing.T) {
	got, err := parseTask(fleet.JSON(sample))
	require.NoError(t, err)
	require.Equal(t, sample, *got)
	require.Equal(t, "3-2-2-1", got.messageID())
	require.Equal(t, &selfplay.Task{Iteration: 3, Slot: 3, Rollout: sample.Rollout, Net: "abc", Start: sample.Starts[1]},
		got.task(1))
	for bad, says := range map[string]string{
		"hello":                                  "not a task",
		`{"version":1}`:                          "a task in version 1 of the format, want 3: run the same program",
		`{"version":3,"speed":3}`:                "unknown field",
		`{"version":3,"first":-1,"starts":[{}]}`: "1 slots from -1",
		`{"version":3,"starts":[]}`:              "0 slots from 0, want 1 to 256",
	} {
		_, err := parseTask([]byte(bad))
		require.ErrorContains(t, err, says)
	}
}

func TestResultHeaders(t *testing.T) {
	r := resultMessage{id: taskID{3, 2, 4}, worker: "a-b_C9", object: "ff", busy: 12}
	got, err := parseResult(r.header())
	require.NoError(t, err)
	require.Equal(t, r, *got)
	for _, c := range []struct{ key, value, says string }{
		{taskHeader, "", "the task"},
		{taskHeader, "3", "the task"},
		{taskHeader, "3-2", "the task"},
		{taskHeader, "03-2-4", "the task"},
		{taskHeader, "-3-2-4", "the task"},
		{taskHeader, "3-2-0", "the task"},
		{taskHeader, "3-2-257", "the task"},
		{taskHeader, "3-2-4 ", "the task"},
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

// The results of several slots travel as one file. One that was cut or extended is refused.
func TestPackedResults(t *testing.T) {
	files := [][]byte{[]byte("one"), {}, []byte("three")}
	data := packResults(files)
	got, err := unpackResults(data, 3)
	require.NoError(t, err)
	require.Equal(t, files, got)
	for n := range data {
		_, err := unpackResults(data[:n], 3)
		require.Error(t, err, n)
	}
	_, err = unpackResults(data, 2)
	require.ErrorContains(t, err, "bytes after the results of 2 slots")
	_, err = unpackResults([]byte{255, 255, 255, 255, 1}, 1)
	require.ErrorContains(t, err, "a result of 4294967295 bytes, 1 are there")
}

// Tasks are long enough to be worth a message, short enough to keep all threads busy, and their results fit one.
func TestGroupSize(t *testing.T) {
	for _, c := range []struct {
		cost           cost
		slots, threads int
		want           int
	}{
		{cost{}, 64, 0, 16},
		{cost{}, 64, 2, 8},
		{cost{}, 64, 100, 1},
		{cost{}, 4000, 1, mostSlots},
		{cost{10 * time.Millisecond, 1000}, 4000, 2, 100},
		{cost{3 * time.Millisecond, 1000}, 64, 2, 8},
		{cost{3 * time.Millisecond, 1000}, 64, 16, 4},
		{cost{3 * time.Millisecond, 1000}, 64, 1000, 4},
		{cost{3 * time.Millisecond, 1000}, 4000, 256, 31},
		{cost{200 * time.Millisecond, 1000}, 4000, 1000, 4},
		{cost{time.Microsecond, 1000}, 3, 1000, 3},
		{cost{time.Minute, 1000}, 64, 2, 1},
		{cost{time.Millisecond, 100_000}, 64, 2, 5},
		{cost{time.Millisecond, 1 << 30}, 64, 2, 1},
	} {
		require.Equal(t, c.want, c.cost.groupSize(c.slots, c.threads), "%+v", c)
	}
	var c cost
	c.add(30*time.Millisecond, 1000, 10)
	c.add(90*time.Millisecond, 3000, 10)
	c.add(2*time.Millisecond, 100, 1)
	require.Equal(t, cost{2 * time.Millisecond, 300}, c)
}

// What parseTask accepts is written to the same message.
func FuzzTask(f *testing.F) {
	f.Add(fleet.JSON(sample))
	f.Add([]byte(`{"version":3}`))
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
	f.Add("3-2-4", "worker", "", "12")
	f.Add("0-0-1", "a", "ff", "0")
	f.Fuzz(func(t *testing.T, task, worker, object, busy string) {
		r, err := parseResult(nats.Header{taskHeader: {task}, workerHeader: {worker}, objectHeader: {object}, busyHeader: {busy}})
		if err != nil {
			return
		}
		again, err := parseResult(r.header())
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.Equal(t, task, again.id.String())
	})
}
