package contest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"
)

// A Clock says with which time of an answer a bot is charged; "" is Wall, without stopwatch more.
type Clock string

// The clocks.
const (
	Fair Clock = "fair" // without the time in which the machine or the host kept the bot waiting
	Wall Clock = "wall" // all that passes between request and answer
)

// ErrStalled says that a bot could not be timed: the machine has given it next to no processor time.
var ErrStalled = errors.New("the machine is overloaded")

// patience is how many times its limit a bot may take by the wall clock, a second at least, as long as Fair charges it
// with less, or cannot tell yet.
const patience = 20

// A Usage says whose the time of an answer was, or of several.
type Usage struct {
	Wall   time.Duration // until the answer was there
	CPU    time.Duration // of all processes of the bot
	Waited time.Duration // part of Wall in which the bot could run, and the machine did not run it; see between
	Host   time.Duration // after Wall: until the host, which waited for a processor itself, read the answer
}

func (u *Usage) add(v Usage) {
	u.Wall, u.CPU, u.Waited, u.Host = u.Wall+v.Wall, u.CPU+v.CPU, u.Waited+v.Waited, u.Host+v.Host
}

func (u Usage) String() string {
	ms := func(d time.Duration) float64 { return 1000 * d.Seconds() }
	return fmt.Sprintf("wall %.3f ms, CPU %.3f ms, waited %.3f ms, host %.3f ms", ms(u.Wall), ms(u.CPU), ms(u.Waited),
		ms(u.Host))
}

// charged is the time that a clock charges.
func (c Clock) charged(u Usage) time.Duration {
	if c == Fair {
		return u.Wall - u.Waited
	}
	return u.Wall + u.Host
}

// A reading is what a program has used so far, with all that it has started. It is empty where that is not known.
type reading struct {
	processes map[int]time.Duration // processor time by process ID, to 10 ms, also of threads that have ended
	threads   map[int]turns         // of the threads that live
	ended     time.Duration         // processor time of children that have ended and were waited for
	idle      time.Duration         // of all processors of the machine together
}

// turns is how long a thread had a processor, and how long it waited for one.
type turns struct{ ran, waited time.Duration }

// between returns what a program has used between two readings, wall apart, and how long the machine kept it waiting.
//
// That is how long the thread waited that could run for the longest time, of those that live at the end; if that one
// gives way to others of its own accord, it is 0. A program that has just been started, of which the earlier reading
// knows little, does one thing after the other: for it the times of all threads are added.
//
// It is never so much that less is left of wall than the program needs on an idle machine: the processor time of its
// busiest thread, and that of all threads shared by the processors. And no thread need wait while a processor is idle.
// So neither threads that only spin nor being bound to one processor make time. If a process is gone, it may have used
// what nobody has counted: then it is 0, too.
func between(from, to reading, wall time.Duration, processors int, started bool, givesWay func(int) bool) (u Usage) {
	u.Wall = wall
	var busiest, longest, all, ended time.Duration
	thread := 0
	for id, now := range to.threads {
		ran, waited := now.ran-from.threads[id].ran, now.waited-from.threads[id].waited
		u.CPU, all, busiest = u.CPU+ran, all+waited, max(busiest, ran)
		if ran+waited > longest {
			longest, thread, u.Waited = ran+waited, id, waited
		}
	}
	for process, used := range to.processes {
		ended += used - from.processes[process]
	}
	u.CPU = max(u.CPU, ended) + to.ended - from.ended
	gone := func(process int) bool { _, lives := to.processes[process]; return !lives }
	switch {
	case started:
		u.Waited = all
	case slices.ContainsFunc(slices.Collect(maps.Keys(from.processes)), gone), u.Waited > 0 && givesWay(thread):
		u.Waited = 0
	}
	idle := max(0, to.idle-from.idle-2*idleUnit)
	u.Waited = max(0, min(u.Waited, wall-busiest, wall-(u.CPU+idle)/time.Duration(processors)))
	return u
}

// idleUnit is how exactly the idle time is known.
const idleUnit = 10 * time.Millisecond

// A meter reads what a program uses.
type meter interface {
	read() reading
	sighted() []int // the processes that were seen at other times since the last call
	givesWay(thread int) bool
	ready(thread int) bool // it could run now, or does, and does not give way
}

// A stopwatch measures one answer.
type stopwatch struct {
	p     *Process
	from  reading
	sent  time.Time
	later bool                  // the bot has answered before: what ends early is no part of its start
	queue map[int]time.Duration // how long threads had run that might be queued when the limit had passed; see queued
}

// measure begins to measure an answer.
func (p *Process) measure() *stopwatch {
	p.mu.Lock()
	m := &stopwatch{p: p, later: p.replied}
	p.mu.Unlock()
	if p.Clock != "" {
		p.meter.sighted()
		m.from = p.meter.read()
	}
	return m
}

// use returns what the bot has used until now.
func (m *stopwatch) use(wall, host time.Duration) Usage {
	u := Usage{Wall: wall, Host: host}
	if m.from.processes == nil {
		return u
	}
	to := m.p.meter.read()
	u = between(m.from, to, wall, runtime.NumCPU(), !m.later, m.p.meter.givesWay)
	u.Host = host
	for _, process := range m.p.meter.sighted() {
		_, before := m.from.processes[process]
		_, after := to.processes[process]
		m.p.hides = m.p.hides || m.later && !before && !after
	}
	if m.p.hides {
		u.Waited = 0
	}
	return u
}

// expired is called when an answer is not there in time. It returns how much longer the bot may take, or why it may
// not.
func (m *stopwatch) expired(limit time.Duration) (more time.Duration, u Usage, err error) {
	u = m.use(time.Since(m.sent), 0)
	more = limit - m.p.Clock.charged(u)
	if more > 0 {
		m.queue = nil
	}
	switch {
	case more <= 0 && !m.queued():
		return 0, u, ErrLate
	case u.Wall >= patience*max(limit, 10*moment):
		return 0, u, ErrStalled
	}
	return max(more, moment), u, nil
}

// moment is how long a bot is left alone at least.
const moment = 5 * time.Millisecond

// queued reports whether one of the threads that were ready when the limit had passed has not run since. The system
// says how long a thread was queued only when it runs again: until then, one that is queued looks as if it slept. So
// that threads that take turns gain nothing, none is looked at that was not ready at first.
func (m *stopwatch) queued() bool {
	if m.p.Clock != Fair || m.p.hides {
		return false
	}
	now := m.p.meter.read().threads
	if m.queue == nil {
		m.queue = map[int]time.Duration{}
		for id, thread := range now {
			m.queue[id] = thread.ran
		}
	}
	maps.DeleteFunc(m.queue, func(id int, ran time.Duration) bool {
		return now[id].ran != ran || !m.p.meter.ready(id)
	})
	return len(m.queue) > 0
}

// Used says whose the time of the last answer was.
func (p *Process) Used() Usage { return p.used }

// await waits for the answer that m measures. If there is none, p.used is what the bot has used without.
func (p *Process) await(ctx context.Context, m *stopwatch, limit time.Duration) (err error) {
	clock := time.NewTimer(limit)
	defer clock.Stop()
	for waiting := true; waiting && err == nil; {
		select {
		case <-p.answer:
			waiting = false
		case <-clock.C:
			var more time.Duration
			if more, p.used, err = m.expired(limit); err == nil {
				clock.Reset(more)
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == 0 { // a line, perhaps at the last moment
		return nil
	}
	p.waiting = 0
	if err == nil {
		err = ErrGone
	}
	if !errors.Is(err, ErrLate) && !errors.Is(err, ErrStalled) {
		p.used = Usage{Wall: time.Since(m.sent)}
	}
	return err
}
