package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"blockyard/agents/fleet"
	"blockyard/train/selfplay"
)

// Play plays a rollout by workers; see selfplay.Run.Remote.
func (l *Learner) Play(ctx context.Context, r *selfplay.Run, ro selfplay.Rollout) ([]*selfplay.Slot, error) {
	if err := l.Check(ctx); err != nil {
		return nil, err
	}
	if err := l.prepare(ctx, ro); err != nil {
		return nil, err
	}
	now := r.Counts.Iterations
	var tasks []selfplay.Task
	for i, s := range r.Slots {
		start, err := s.Save()
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, selfplay.Task{Iteration: now, Slot: i, Rollout: ro, Net: l.netID, Start: start})
	}
	if err := l.send(ctx, tasks); err != nil {
		return nil, err
	}
	for {
		slots, err := l.collect(now, len(r.Slots))
		if errors.Is(err, errFalse) {
			return nil, cmp.Or(l.putBack(ctx, err), selfplay.ErrReturned)
		}
		if slots != nil || err != nil {
			return slots, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.Failed():
		case <-l.arrived:
		}
	}
}

// prepare stores the net of a rollout, and knows its self-test.
func (l *Learner) prepare(ctx context.Context, ro selfplay.Rollout) error {
	if l.net != ro.Net {
		file, id, err := selfplay.NetFile(ro.Net)
		if err != nil {
			return err
		}
		old := l.netID
		if id != old {
			if _, err := l.Objects.Put(ctx, file); err != nil {
				return fmt.Errorf("storing the net: %w", l.Explain(err))
			}
			if old != "" {
				if err := l.Objects.Remove(ctx, old); err != nil {
					return l.Explain(err)
				}
			}
		}
		l.net, l.netID = ro.Net, id
	}
	kind := kindOf(ro)
	if _, ok := l.checks[kind]; ok {
		return nil
	}
	sum, err := selfplay.SelfTest(l.run.Game, l.run.Settings, ro)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checks[kind] = sum
	return err
}

// kindOf is what the self-test of a rollout depends on.
func kindOf(ro selfplay.Rollout) selfplay.Rollout {
	return selfplay.Rollout{Kind: ro.Kind, Baseline: ro.Baseline}
}

// send publishes the tasks of an iteration, except those that were played ahead, and what can follow these.
func (l *Learner) send(ctx context.Context, tasks []selfplay.Task) error {
	l.mu.Lock()
	var rest []selfplay.Task
	for _, t := range tasks {
		s := l.sent[place{t.Iteration, t.Slot}]
		if s == nil {
			rest = append(rest, t)
			continue
		}
		old, ro := s.tasks[t.Slot-s.tasks[0].Slot], t.Rollout
		ro.Ahead, ro.Net = old.Rollout.Ahead, old.Rollout.Net
		if old.Net != t.Net || old.Rollout != ro || old.Start.State != t.Start.State {
			l.mu.Unlock()
			return fmt.Errorf("iteration %d of slot %d was played ahead in another way", t.Iteration, t.Slot)
		}
	}
	jobs := l.group(rest)
	l.waiting = tasks[0].Iteration
	jobs = append(jobs, l.extend()...)
	l.mu.Unlock()
	return l.Submit(ctx, jobs...)
}

// collect returns the slots of an iteration once all results are there, and forgets their tasks.
func (l *Learner) collect(iteration, slots int) ([]*selfplay.Slot, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found != nil {
		return nil, l.found
	}
	all := make([]*selfplay.Slot, slots)
	for i := range all {
		s := l.sent[place{iteration, i}]
		if s.slots == nil {
			return nil, nil
		}
		all[i] = s.slots[i-s.tasks[0].Slot]
	}
	for i := range all {
		delete(l.sent, place{iteration, i})
	}
	l.waiting, l.run.Unverified = iteration+1, slices.Sorted(maps.Keys(l.unverified))
	return all, nil
}

const aheadMost = 4 // how many rollouts beyond the one that the learner waits for may be played

// A place is a slot in one iteration of a run.
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

// A cost is what a slot of a task takes, which changes little from result to result.
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

// A task has at most a quarter of a thread's share of the slots, so that all threads are busy until the end of a
// rollout, and takes longTask at most, which is lost with a worker. It has more if the learner, at handling for a task,
// would be slower than the threads: as many as keep both busy or, with too many threads, as it can handle meanwhile.
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
	most := l.cost.groupSize(l.slots, l.Threads())
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

// extend returns the tasks after those whose results are there (Rollout.Ahead), as sent. The caller holds mu.
func (l *Learner) extend() []*fleet.Job {
	var more []selfplay.Task
	for slot := range l.slots {
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
