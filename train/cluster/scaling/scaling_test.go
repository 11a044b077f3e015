package scaling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

func predict(t *testing.T, m Model) Prediction {
	t.Helper()
	p, err := m.Simulate(50)
	require.NoError(t, err)
	return p
}

// Without costs of its own, a cluster of one worker is as fast as one process.
func TestOneWorker(t *testing.T) {
	p := predict(t, Model{Workers: 1, Slots: 16, Task: 10 * ms, Fit: 20 * ms})
	require.InDelta(t, 1, p.Speedup, 0.03)
	require.InDelta(t, 160./180, p.Efficiency, 0.03)
	require.Equal(t, 50*16, p.Tasks)
	require.Zero(t, p.Lost)
}

// Nothing is faster than the slots, or the learner, allow.
func TestCeilings(t *testing.T) {
	m := Model{Workers: 1000, Slots: 64, Task: 10 * ms}
	require.LessOrEqual(t, predict(t, m).Speedup, 64.)
	m.Slots, m.Handle = 4000, ms
	p := predict(t, m)
	require.InDelta(t, 10, p.Speedup, 0.5, "the learner handles a result per ms, a task takes 10")
	require.Greater(t, p.Learner, 0.95)
}

// Tasks of several slots cost the learner less, and what is lost with a worker is more.
func TestGroups(t *testing.T) {
	m := Model{Workers: 1000, Slots: 4000, Task: 10 * ms, Handle: ms}
	m.Group = 4
	p := predict(t, m)
	require.InDelta(t, 40, p.Speedup, 2, "the learner handles four slots per ms, each takes 10")
	m.PerSlot = ms
	require.InDelta(t, 8, predict(t, m).Speedup, 0.5, "5 ms per task of four slots")

	m = Model{Workers: 1, Slots: 10, Group: 4, Task: 10 * ms}
	p = predict(t, m)
	require.Equal(t, 50*3, p.Tasks, "of 4, 4 and 2 slots")
	require.InDelta(t, 1, p.Speedup, 0.03, "no slot is played twice")
	m = Model{Workers: 16, Slots: 64, Task: 10 * ms, Between: time.Second, Away: 100 * ms, AckWait: 50 * ms}
	one := predict(t, m)
	m.Group = 4
	four := predict(t, m)
	require.Less(t, four.Speedup, one.Speedup)
}

// Playing ahead hides fits; failures cost time and lose nothing.
func TestAheadAndFailures(t *testing.T) {
	m := Model{Workers: 16, Slots: 64, Task: 10 * ms, Fit: 30 * ms}
	waits := predict(t, m)
	m.Ahead = 4
	ahead := predict(t, m)
	require.Greater(t, ahead.Speedup, 1.2*waits.Speedup)
	m.Between, m.Away, m.AckWait = time.Second, 100*ms, 50*ms
	fails := predict(t, m)
	require.Positive(t, fails.Lost)
	require.GreaterOrEqual(t, fails.Tasks, 50*64)
	require.Less(t, fails.Speedup, ahead.Speedup)
	require.Equal(t, fails, predict(t, m), "the same seed")
}

func TestBadModels(t *testing.T) {
	for _, m := range []Model{{}, {Workers: 1, Slots: 1}, {Workers: 1, Slots: 1, Task: ms, Fit: -1},
		{Workers: 1, Slots: 1, Task: ms, Ahead: -1},
		{Workers: 1, Slots: 3, Group: 4, Task: ms}, {Workers: 1, Slots: 3, Task: ms, PerSlot: -1}} {
		_, err := m.Simulate(1)
		require.Error(t, err)
	}
	_, err := Model{Workers: 1, Slots: 1, Task: ms}.Simulate(0)
	require.Error(t, err)
}
