package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"blockyard/train/selfplay"
)

// A sentTask is a task that was published, and its result once there is one.
type sentTask struct {
	task  selfplay.Task
	check string
	tries int            // how often it was published
	slot  *selfplay.Slot // the result; nil until it arrives
}

// Play implements selfplay.Remote.
func (l *Learner) Play(ctx context.Context, r *selfplay.Run, ro selfplay.Rollout) ([]*selfplay.Slot, error) {
	if err := l.lease.held(ctx); err != nil {
		return nil, err
	}
	if err := l.prepare(ctx, ro); err != nil {
		return nil, err
	}
	now := r.Counts.Iterations
	for i, s := range r.Slots {
		start, err := s.Save()
		if err != nil {
			return nil, err
		}
		if err := l.send(ctx, selfplay.Task{Iteration: now, Slot: i, Rollout: ro, Net: l.netID, Start: start}); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	l.waiting = now
	more := l.extend(len(r.Slots))
	l.mu.Unlock()
	for _, t := range more {
		if err := l.send(ctx, t); err != nil {
			return nil, err
		}
	}
	for {
		if slots, err := l.collect(now, len(r.Slots)); slots != nil || err != nil {
			return slots, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
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
			if _, err := l.objects.put(ctx, file); err != nil {
				return fmt.Errorf("storing the net: %w", err)
			}
			if old != "" {
				if err := l.objects.remove(ctx, old); err != nil {
					return err
				}
			}
		}
		l.net, l.netID = ro.Net, id
	}
	kind := kindOf(ro)
	if _, ok := l.checks[kind]; ok {
		return nil
	}
	sum, err := selfplay.SelfTest(l.run.Game, l.run.Settings(), ro)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checks[kind] = sum
	return err
}

// kindOf is what the self-test of a rollout depends on.
func kindOf(ro selfplay.Rollout) selfplay.Rollout {
	return selfplay.Rollout{Kind: ro.Kind, TwoPly: ro.TwoPly, Baseline: ro.Baseline}
}

// send publishes a task, unless that was done.
func (l *Learner) send(ctx context.Context, t selfplay.Task) error {
	id := taskID(t.Iteration, t.Slot)
	l.mu.Lock()
	old := l.sent[id]
	s := &sentTask{task: t, check: l.checks[kindOf(t.Rollout)], tries: 1}
	if old == nil {
		l.sent[id] = s
	}
	l.mu.Unlock()
	if old != nil {
		if old.task.Net != t.Net || !sameRollout(old.task.Rollout, t.Rollout) || old.task.Start.State != t.Start.State {
			return fmt.Errorf("task %s was played ahead in another way", id)
		}
		return nil
	}
	return l.publish(ctx, s)
}

func sameRollout(a, b selfplay.Rollout) bool {
	a.Ahead, b.Ahead, a.Net, b.Net = 0, 0, nil, nil
	return a == b
}

// publish puts a task into the queue. It tries again while the broker cannot be reached.
func (l *Learner) publish(ctx context.Context, s *sentTask) error {
	l.mu.Lock()
	m := taskMessage{Version: Version, Check: s.check, Try: s.tries, Task: s.task}
	l.mu.Unlock()
	data, msgID := mustJSON(m), m.messageID()
	subject := queueSubject(l.spec.Run, l.spec.Epoch, "tasks")
	for {
		_, err := l.js.Publish(ctx, subject, data, jetstream.WithMsgID(msgID))
		if err == nil {
			return nil
		}
		var api *jetstream.APIError
		if errors.As(err, &api) || ctx.Err() != nil || errors.Is(err, jetstream.ErrNoStreamResponse) {
			if gone := l.lease.renew(ctx); errors.Is(gone, ErrDriven) {
				return gone
			}
			return explain(err)
		}
		l.options.Log.Warn("a task could not be published, trying again", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// collect returns the slots of an iteration once all results are there, and forgets their tasks.
func (l *Learner) collect(iteration, slots int) ([]*selfplay.Slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return nil, l.failed
	}
	all := make([]*selfplay.Slot, slots)
	for i := range all {
		if all[i] = l.sent[taskID(iteration, i)].slot; all[i] == nil {
			return nil, nil
		}
	}
	for i := range all {
		delete(l.sent, taskID(iteration, i))
	}
	l.waiting = iteration + 1
	return all, nil
}

// extend returns the tasks that can follow those whose results are there; see Rollout.Ahead. The caller holds mu.
func (l *Learner) extend(slots int) (more []selfplay.Task) {
	for i := range slots {
		for at := l.waiting; at < l.waiting+aheadMost; at++ {
			s := l.sent[taskID(at, i)]
			if s == nil || s.slot == nil {
				break
			}
			if l.sent[taskID(at+1, i)] == nil {
				if t, ok := s.next(); ok {
					more = append(more, t)
				}
				break
			}
		}
	}
	return more
}

// next returns the slot's next task, if nothing that is learned from this one can change it.
func (s *sentTask) next() (selfplay.Task, bool) {
	t := s.task
	if t.Rollout.Ahead < 1 {
		return t, false
	}
	t.Iteration++
	t.Rollout.Ahead--
	var err error
	t.Start, err = s.slot.Save()
	return t, err == nil
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain fields
	}
	return b
}
