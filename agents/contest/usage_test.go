//go:build unix

package contest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// TestWhatABotWaited: the machine has kept a bot waiting as long as the thread that could run for the longest time has
// waited, and never so that less is left than the bot would have needed alone. Threads that spin, sleep, give way, are
// bound to a processor, or end unseen make no time.
func TestWhatABotWaited(t *testing.T) {
	const wall, none = 600 * ms, time.Duration(0)
	one := func(ran, waited time.Duration) map[int]turns { return map[int]turns{7: {ran, waited}} }
	many := func(n int, ran, waited time.Duration) map[int]turns {
		out := map[int]turns{}
		for id := range n {
			out[id] = turns{ran, waited}
		}
		return out
	}
	for name, c := range map[string]struct {
		threads     map[int]turns
		cpu, ended  time.Duration // of the bot's process, and of children that it has waited for
		idle        time.Duration
		gone        bool
		processors  int
		waited, own time.Duration
	}{
		"computes on a quiet machine":               {one(600*ms, 0), 600 * ms, 0, 600 * ms, false, 2, 0, 600 * ms},
		"computes beside others":                    {one(120*ms, 480*ms), 120 * ms, 0, 0, false, 2, 480 * ms, 120 * ms},
		"sleeps":                                    {one(0, 0), 0, 0, 1200 * ms, false, 2, 0, 600 * ms},
		"sleeps beside others":                      {one(1*ms, 2*ms), 1 * ms, 0, 0, false, 2, 2 * ms, 598 * ms},
		"computes, then sleeps":                     {one(100*ms, 200*ms), 100 * ms, 0, 0, false, 2, 200 * ms, 400 * ms},
		"waits for a thread that waits":             {map[int]turns{1: {}, 2: {120 * ms, 480 * ms}}, 120 * ms, 0, 0, false, 2, 480 * ms, 120 * ms},
		"threads one after the other":               {map[int]turns{1: {50 * ms, 250 * ms}, 2: {60 * ms, 240 * ms}}, 110 * ms, 0, 0, false, 2, 250 * ms, 350 * ms},
		"twelve threads that spin, alone":           {many(12, 100*ms, 500*ms), 1200 * ms, 0, 0, false, 2, 0, 600 * ms},
		"twelve threads beside as many others":      {many(12, 50*ms, 550*ms), 600 * ms, 0, 0, false, 2, 300 * ms, 300 * ms},
		"one works, others only spin":               {map[int]turns{1: {400 * ms, 200 * ms}, 2: {1 * ms, 599 * ms}}, 401 * ms, 0, 0, false, 2, 200 * ms, 400 * ms},
		"threads that have ended have used the CPU": {one(1*ms, 599*ms), 1100 * ms, 0, 0, false, 2, 50 * ms, 550 * ms},
		"children that have ended, too":             {one(1*ms, 599*ms), 1 * ms, 1099 * ms, 0, false, 2, 50 * ms, 550 * ms},
		"bound to one of many processors":           {many(64, 9*ms, 591*ms), 576 * ms, 0, 63 * wall, false, 64, none, 600 * ms},
		"a process is gone":                         {one(120*ms, 480*ms), 120 * ms, 0, 0, true, 2, 0, 600 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			from := reading{processes: map[int]time.Duration{1: 0}, threads: map[int]turns{}}
			if c.gone {
				from.processes[2] = 0
			}
			to := reading{map[int]time.Duration{1: c.cpu}, c.threads, c.ended, c.idle}
			u := between(from, to, wall, c.processors, false, func(int) bool { return false })
			require.InDelta(t, c.waited, u.Waited, float64(11*ms)) // idle time is known to 10 ms
			require.InDelta(t, c.own, Fair.charged(u), float64(11*ms))
			require.Equal(t, wall, Wall.charged(u))
			require.Equal(t, c.cpu+c.ended, u.CPU)
			require.GreaterOrEqual(t, between(from, to, wall, c.processors, true, nil).Waited, u.Waited, "at its start")
			require.Zero(t, between(from, to, wall, c.processors, false, func(int) bool { return true }).Waited)
		})
	}
}

// A loaded is a meter of a machine that runs a bot's thread never, or so it says. It calls each before a reading.
type loaded struct {
	each func(n int)
	n    int
	seen []int
}

func (l *loaded) read() reading {
	if l.n++; l.each != nil {
		l.each(l.n)
	}
	return reading{map[int]time.Duration{1: 0}, map[int]turns{1: {0, time.Duration(l.n-1) * time.Hour}}, 0, 0}
}
func (l *loaded) sighted() []int  { return l.seen }
func (*loaded) givesWay(int) bool { return false }
func (*loaded) ready(int) bool    { return false }

// A queue is a meter of a bot whose threads each ran for what runs say, look after look; the last look stays. None has
// waited as far as the system says.
type queue struct {
	runs [][]time.Duration
	n    int
}

func (q *queue) read() reading {
	threads := map[int]turns{}
	for id, ran := range q.runs[min(q.n, len(q.runs)-1)] {
		threads[id] = turns{ran: ran}
	}
	q.n++
	return reading{processes: map[int]time.Duration{1: 0}, threads: threads}
}
func (*queue) sighted() []int        { return nil }
func (*queue) givesWay(int) bool     { return false }
func (*queue) ready(thread int) bool { return thread > 0 }

// TestAQueuedBotIsNotLateYet: what the system has not booked yet is waited for, but only by threads that were ready when
// the limit had passed: one that sleeps, one that runs, and threads that take turns are late.
func TestAQueuedBotIsNotLateYet(t *testing.T) {
	for name, c := range map[string]struct {
		runs  [][]time.Duration // of threads of which the first one sleeps
		looks int               // after which the bot is late
	}{
		"sleeps":           {[][]time.Duration{{0}}, 1},
		"runs":             {[][]time.Duration{{0, 0}, {0, 1}}, 2},
		"is queued":        {[][]time.Duration{{0, 0}, {0, 0}, {0, 0}, {0, 1}}, 4},
		"threads in turns": {[][]time.Duration{{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 2, 1}, {0, 2, 2}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			m := stopwatch{p: &Process{Clock: Fair, meter: &queue{runs: c.runs}}, sent: time.Now(), later: true}
			looks := 1
			for m.queued() {
				looks++
			}
			require.Equal(t, c.looks, looks)
			require.ErrorIs(t, envtest.Failed2(m.expired(0)), ErrLate)

			m.p.meter, m.queue = &queue{runs: [][]time.Duration{{0, 0}}}, nil
			more, _, err := m.expired(0) // also if nothing of its time is left
			require.NoError(t, err)
			require.Positive(t, more)
		})
	}
}

// TestTheFairClockWaits for an answer that the machine has held up, and the clock on the wall does not.
func TestTheFairClockWaits(t *testing.T) {
	leave := filepath.Join(t.TempDir(), "leave")
	p, _ := start(t, `read x; while [ ! -e `+leave+` ]; do sleep 0.01; done; echo "$x"; cat >/dev/null`)
	p.Clock, p.meter = Fair, &loaded{each: func(n int) {
		if n == 2 { // the limit has passed
			require.NoError(t, os.WriteFile(leave, nil, 0o600))
		}
	}}
	const limit = 2 * time.Second
	line, _, elapsed, err := p.Ask(t.Context(), []string{"one"}, limit)
	require.NoError(t, err)
	require.Equal(t, "one", line)
	require.Zero(t, elapsed)
	require.Greater(t, p.Used().Wall+p.Used().Host, limit)
	require.Equal(t, p.Used().Wall, p.Used().Waited)
}

// TestABotThatCannotBeTimed ends its game, but not if the wall's clock counts, or if it hides what it does.
func TestABotThatCannotBeTimed(t *testing.T) {
	for _, c := range []struct {
		clock   Clock
		replied bool
		seen    []int
		want    error
	}{
		{Fair, true, nil, ErrStalled}, {Fair, true, []int{1}, ErrStalled}, {Fair, true, []int{5}, ErrLate},
		{Fair, false, []int{5}, ErrStalled}, {Wall, true, nil, ErrLate}, {"", true, nil, ErrLate},
	} {
		p, _ := start(t, `sleep 60`)
		p.Clock, p.meter, p.replied = c.clock, &loaded{seen: c.seen}, c.replied
		require.ErrorIs(t, envtest.Failed(ask(t, p, "one", 5*ms)), c.want, c)
	}
}

// TestUsageOfTheChildren: what a program's threads and children use is in its reading, as long as they live.
func TestUsageOfTheChildren(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what a process uses")
	}
	p, _ := start(t, `while :; do :; done & while read x; do echo "$x"; done`)
	p.Clock = Fair
	from := p.child.read()
	require.Eventually(t, func() bool {
		_, err := ask(t, p, "x", hang)
		now := p.child.read()
		used := time.Duration(0)
		for _, cpu := range now.processes {
			used += cpu
		}
		return err == nil && used > 20*ms && len(now.threads) == len(now.processes) && len(now.processes) > len(from.processes)-2
	}, hang, ms)
	require.LessOrEqual(t, p.Used().Waited, p.Used().Wall)
}
