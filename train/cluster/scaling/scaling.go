// Package scaling predicts how fast self-play with many workers is, by a simulation of discrete events.
package scaling

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A Model is a run and the machines that it has.
type Model struct {
	Workers int           // threads that play
	Slots   int           // games side by side
	Group   int           // slots per task; 0 is 1
	Ahead   int           // rollouts that may be played beyond the one that the learner waits for
	Task    time.Duration // mean time of playing one slot; single ones take half to one and a half times as long
	Handle  time.Duration // time of learner and broker per task
	PerSlot time.Duration // and per slot of it
	Fit     time.Duration // time of the learner per rollout, for fitting
	Between time.Duration // mean time between two failures of a worker; 0: it never fails
	Away    time.Duration // that a worker is gone after a failure
	AckWait time.Duration // until a lost task is delivered again
	Seed    uint64
}

// A Prediction is what came of some rollouts.
type Prediction struct {
	Elapsed    time.Duration
	Tasks      int     // results that the learner took
	Lost       int     // tasks that were delivered again
	Speedup    float64 // against one process with one thread
	Efficiency float64 // share of the workers' time spent on results
	Learner    float64 // share of the time that the learner works
}

// Check reports the first setting that is out of range.
func (m *Model) Check() error {
	switch {
	case m.Workers < 1 || m.Workers > 1<<20 || m.Slots < 1 || m.Slots > 1<<20:
		return fmt.Errorf("%d workers and %d slots, want 1 to %d each", m.Workers, m.Slots, 1<<20)
	case m.Ahead < 0 || m.Ahead > 1<<10:
		return fmt.Errorf("%d rollouts ahead, want 0 to %d", m.Ahead, 1<<10)
	case m.Group < 0 || m.Group > m.Slots:
		return fmt.Errorf("%d slots per task, want 0 to %d", m.Group, m.Slots)
	case m.Task <= 0 || m.Handle < 0 || m.PerSlot < 0 || m.Fit < 0 || m.Between < 0 || m.Away < 0 || m.AckWait < 0:
		return fmt.Errorf("a time is negative, or tasks take none")
	}
	return nil
}

// What happens at an event.
const (
	finish = iota // a worker has played a task
	retry         // a lost task is delivered again
	back          // a worker is there again
	handle        // the learner has taken a result
	fit           // the learner has fitted its nets
)

type event struct {
	at          float64 // seconds
	what, group int
	spent       float64 // time of the worker
}

// A simulation is a run in progress.
type simulation struct {
	Model
	rand    *rand.Rand
	now     float64
	events  []event // by time
	queue   []int   // groups of slots whose task waits for a worker
	idle    int     // workers
	played  []int   // rollouts, by group
	fitted  int     // rollouts
	fitting bool
	free    float64 // when the learner is free again
	busy    float64 // of the learner
	useful  float64 // time of workers
	tasks   int
	lost    int
}

// Simulate plays rollouts. The same model gives the same prediction.
func (m Model) Simulate(rollouts int) (Prediction, error) {
	if err := m.Check(); err != nil {
		return Prediction{}, err
	}
	if rollouts < 1 {
		return Prediction{}, fmt.Errorf("%d rollouts, want at least 1", rollouts)
	}
	s := &simulation{Model: m, rand: rand.New(rand.NewPCG(m.Seed, 0)), idle: m.Workers}
	s.Group = max(1, m.Group)
	s.played = make([]int, (m.Slots+s.Group-1)/s.Group)
	for group := range s.played {
		s.queue = append(s.queue, group)
	}
	s.assign()
	for s.fitted < rollouts {
		e := s.events[0]
		s.events, s.now = s.events[1:], e.at
		s.happen(e)
	}
	alone := float64(rollouts) * (float64(m.Slots)*m.Task.Seconds() + m.Fit.Seconds())
	return Prediction{
		Elapsed: time.Duration(s.now * float64(time.Second)), Tasks: s.tasks, Lost: s.lost, Speedup: alone / s.now,
		Efficiency: s.useful / (s.now * float64(m.Workers)), Learner: s.busy / s.now,
	}, nil
}

func (s *simulation) push(e event) {
	k, _ := slices.BinarySearchFunc(s.events, e.at, func(x event, at float64) int { return cmp.Compare(x.at, at) })
	s.events = slices.Insert(s.events, k, e)
}

func (s *simulation) happen(e event) {
	switch e.what {
	case finish:
		s.idle++
		s.useful += e.spent
		s.learn(event{what: handle, group: e.group}, s.Handle+time.Duration(s.size(e.group))*s.PerSlot)
	case retry:
		s.queue = append(s.queue, e.group)
	case back:
		s.idle++
	case handle:
		s.tasks++
		s.played[e.group]++
		s.next(e.group)
		s.maybeFit()
	case fit:
		s.fitted++
		s.fitting = false
		for group := range s.played {
			if s.played[group] == s.fitted+s.Ahead { // it waited for this fit
				s.queue = append(s.queue, group)
			}
		}
		s.maybeFit()
	}
	s.assign()
}

// size is how many slots a group has: the last one may have fewer than the others.
func (s *simulation) size(group int) int { return min(s.Group, s.Slots-group*s.Group) }

// next queues the group's next task, unless that is too far ahead.
func (s *simulation) next(group int) {
	if s.played[group] < s.fitted+1+s.Ahead {
		s.queue = append(s.queue, group)
	}
}

// learn lets the learner do one thing after the other.
func (s *simulation) learn(e event, takes time.Duration) {
	s.free = math.Max(s.free, s.now) + takes.Seconds()
	s.busy += takes.Seconds()
	e.at = s.free
	s.push(e)
}

// maybeFit fits when all groups have played the rollout.
func (s *simulation) maybeFit() {
	if s.fitting {
		return
	}
	for _, played := range s.played {
		if played <= s.fitted {
			return
		}
	}
	s.fitting = true
	s.learn(event{what: fit}, s.Fit)
}

// assign gives tasks to idle workers, some of which fail.
func (s *simulation) assign() {
	for ; s.idle > 0 && len(s.queue) > 0; s.queue = s.queue[1:] {
		s.idle--
		takes := 0.
		for range s.size(s.queue[0]) {
			takes += s.Task.Seconds() * (.5 + s.rand.Float64())
		}
		if s.Between > 0 {
			if fails := s.rand.ExpFloat64() * s.Between.Seconds(); fails < takes {
				s.lost++
				s.push(event{at: s.now + fails + s.AckWait.Seconds(), what: retry, group: s.queue[0]})
				s.push(event{at: s.now + fails + s.Away.Seconds(), what: back})
				continue
			}
		}
		s.push(event{at: s.now + takes, what: finish, group: s.queue[0], spent: takes})
	}
}
