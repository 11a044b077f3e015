package cluster

import (
	"math"
	"time"

	"blockyard/agents/fleet"
	"blockyard/train/selfplay"
)

// aheadMost is how many rollouts beyond the one that the learner waits for may be played.
const aheadMost = 4

// A place is a slot in an iteration.
type place struct{ iteration, slot int }

// A sentTask is a task that was published, and its results once they are there.
type sentTask struct {
	tasks []selfplay.Task  // of consecutive slots in one iteration
	check string           // SHA-256 of the self-test
	slots []*selfplay.Slot // the results; nil until they arrive
}

// next returns the next task of the k-th slot, if nothing that is learned from this one can change it.
func (s *sentTask) next(k int) (selfplay.Task, bool) {
	t := s.tasks[k]
	if t.Rollout.Ahead < 1 {
		return t, false
	}
	t.Iteration++
	t.Rollout.Ahead--
	var err error
	t.Start, err = s.slots[k].Save()
	return t, err == nil
}

// A cost is what a slot of a task takes. It changes little from result to result: tasks of slots that are played ahead
// are split but not joined again.
type cost struct {
	busy  time.Duration // of playing it: the shortest so far, because a busy machine takes longer
	bytes int           // of its result: the largest so far
}

// add takes a result of so many slots into account.
func (c *cost) add(busy time.Duration, bytes, slots int) {
	if busy /= time.Duration(slots); c.busy == 0 || busy < c.busy {
		c.busy = busy
	}
	c.bytes = max(c.bytes, bytes/slots)
}

// What a message costs hardly depends on how many slots it has. A task has at most a quarter of a thread's share of the
// slots, so that all threads are busy until the end of a rollout, and not more than take longTask, because that is
// what is lost with a worker. It has more if the learner, which takes handling for a task, would be slower than the
// threads: as many as keep both busy, or, with too many threads for that, those with which as many tasks are played
// at a time as the learner can handle meanwhile.
const (
	tasksPerThread = 4
	longTask       = time.Second
	handling       = 700 * time.Microsecond
)

// groupSize returns how many slots a task has at most: of so many slots, played by so many threads.
func (c cost) groupSize(slots, threads int) int {
	n := slots / (tasksPerThread * max(1, threads))
	if c.busy > 0 {
		share := float64(handling) / float64(c.busy)
		n = max(n, int(math.Ceil(min(float64(threads)*share, math.Sqrt(float64(slots)*share)))))
		n = min(n, slots, int((longTask+c.busy-1)/c.busy))
	}
	if c.bytes > 0 {
		n = min(n, fleet.LargeResult/c.bytes)
	}
	return min(max(1, n), mostSlots)
}

// group puts the tasks of slots, in ascending order, together into jobs. They count as sent. The caller holds mu.
func (l *Learner) group(tasks []selfplay.Task) (jobs []*fleet.Job) {
	most := l.cost.groupSize(len(l.run.Slots), l.Threads())
	for len(tasks) > 0 {
		n := 1
		for n < min(most, len(tasks)) && tasks[n].Iteration == tasks[0].Iteration && tasks[n].Slot == tasks[0].Slot+n {
			n++
		}
		jobs = append(jobs, l.job(&sentTask{tasks: tasks[:n:n], check: l.checks[kindOf(tasks[0].Rollout)]}))
		tasks = tasks[n:]
	}
	return jobs
}

// extend returns the tasks that can follow those whose results are there; see Rollout.Ahead. They count as sent. The
// caller holds mu.
func (l *Learner) extend() []*fleet.Job {
	var more []selfplay.Task
	for slot := range l.run.Slots {
		for at := l.waiting; at < l.waiting+aheadMost; at++ {
			s := l.sent[place{at, slot}]
			if s == nil || s.slots == nil {
				break
			}
			if l.sent[place{at + 1, slot}] == nil {
				if t, ok := s.next(slot - s.tasks[0].Slot); ok {
					more = append(more, t)
				}
				break
			}
		}
	}
	return l.group(more)
}
