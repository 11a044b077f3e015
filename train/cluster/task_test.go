package cluster

import (
	"encoding/json"
	"testing"
	"time"

	"blockyard/env/envtest"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

var sample = taskSpec{Check: "c0ffee", Iteration: 3, First: 2, Net: "abc",
	Rollout: selfplay.Rollout{Kind: "backup", Steps: 4},
	Starts:  []selfplay.GameSlot{{State: "AAAA", Word: "1"}, {State: "BBBB", Word: "2"}},
}

func toJSON(v any) []byte { return envtest.Must(json.Marshal(v)) }

func TestTaskMessages(t *testing.T) {
	got := envtest.Must(parseTask(toJSON(sample)))
	require.Equal(t, sample, *got)
	require.Equal(t, &selfplay.Task{Iteration: 3, Slot: 3, Rollout: sample.Rollout, Net: "abc", Start: sample.Starts[1]},
		got.task(1))
	for bad, says := range map[string]string{
		"hello":                          "not a task",
		`{"speed":3}`:                    "unknown field",
		`{"first":-1,"starts":[{}]}`:     "1 slots from -1",
		`{"starts":[]}`:                  "0 slots from 0, want 1 to 256",
		`{"iteration":-1,"starts":[{}]}`: "iteration -1",
	} {
		require.ErrorContains(t, envtest.Failed(parseTask([]byte(bad))), says)
	}
}

// The results of several slots travel as one file. One that was cut or extended is refused.
func TestPackedResults(t *testing.T) {
	files := [][]byte{[]byte("one"), {}, []byte("three")}
	data := packResults(files)
	require.Equal(t, files, envtest.Must(unpackResults(data, 3)))
	for n := range data {
		require.Error(t, envtest.Failed(unpackResults(data[:n], 3)), n)
	}
	require.ErrorContains(t, envtest.Failed(unpackResults(data, 2)), "bytes after the results of 2 slots")
	_, err := unpackResults([]byte{255, 255, 255, 255, 1}, 1)
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
	f.Add(toJSON(sample))
	f.Add([]byte(`{"starts":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseTask(data); err == nil {
			require.Equal(t, m, envtest.Must(parseTask(toJSON(m))))
		}
	})
}
