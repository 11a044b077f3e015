package cluster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

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
		if slots, err := l.collect(now, len(r.Slots)); slots != nil || err != nil {
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
	l.waiting = iteration + 1
	return all, nil
}

// mostVerifying is the share of its time that a learner verifies at most, unless it verifies everything: with many
// workers, whose results it would keep waiting, it verifies fewer.
const mostVerifying = 0.2

// check plays a share of the results again and returns an error if the result of a task differs from that. Which ones,
// no worker can know; the run does not depend on it.
func (l *Learner) check(t *selfplay.Task, file []byte) error {
	busy := float64(l.verifying) > mostVerifying*float64(time.Since(l.began))
	if l.verify < 1 && (rand.Float64() >= l.verify || busy) {
		return nil
	}
	began := time.Now()
	ours, _, err := l.player.Play(context.Background(), t, t.Rollout.Net)
	l.verifying += time.Since(began)
	if err == nil && !bytes.Equal(ours, file) {
		err = fmt.Errorf("slot %d differs from what the learner plays", t.Slot)
	}
	return err
}
