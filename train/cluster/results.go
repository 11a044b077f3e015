package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/datasets/atomicfile"
	"blockyard/train/selfplay"
)

// take takes a result. One that is not waited for, late or repeated, is dropped.
func (l *Learner) take(msg jetstream.Msg) {
	defer func() { _ = msg.Ack() }() // one that is delivered again is dropped
	r, err := parseResult(msg.Headers())
	if err != nil {
		l.options.Log.Warn("a message that is no result was dropped", "error", err)
		return
	}
	l.mu.Lock()
	s := l.sent[r.id]
	late := s == nil || s.slot != nil
	l.mu.Unlock()
	if late {
		l.crew.dropped(r.worker)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	slot, err := l.decode(ctx, r, &s.task, msg.Data())
	if err != nil {
		l.crew.trouble(trouble{Task: r.id, Worker: r.worker, Error: err.Error()})
		l.again(ctx, s)
		return
	}
	l.mu.Lock()
	s.slot, l.last = slot, time.Now()
	more := l.extend(len(l.run.Slots))
	l.mu.Unlock()
	l.crew.counted(r, slot)
	l.wake()
	for _, t := range more {
		if err := l.send(ctx, t); err != nil {
			l.fail(err)
		}
	}
}

// decode reads a result, from the object store if it is large.
func (l *Learner) decode(
	ctx context.Context, r *resultMessage, t *selfplay.Task, data []byte,
) (*selfplay.Slot, error) {
	if r.object != "" {
		var err error
		if data, err = l.objects.get(ctx, r.object); err != nil {
			return nil, err
		}
		defer func() { _ = l.objects.remove(ctx, r.object) }() // the store is bounded and goes with the run
	}
	return l.player.Decode(t, data)
}

// again publishes a task whose result was damaged or lost once more, or gives it up.
func (l *Learner) again(ctx context.Context, s *sentTask) {
	l.mu.Lock()
	s.tries++
	most := s.tries > l.spec.Limits.Deliveries
	l.mu.Unlock()
	if most {
		l.giveUp(s)
		return
	}
	if err := l.publish(ctx, s); err != nil {
		l.fail(err)
	}
}

// giveUp writes a task that no worker could play to a file and ends the run.
func (l *Learner) giveUp(s *sentTask) {
	id := taskID(s.task.Iteration, s.task.Slot)
	reports := l.crew.reports(id)
	path := filepath.Join(l.options.Folder, "failed-task-"+id+".json")
	kept := struct {
		Spec    *Spec         `json:"spec"`
		Task    selfplay.Task `json:"task"`
		Reports []trouble     `json:"reports"`
	}{l.spec, s.task, reports}
	text, err := json.MarshalIndent(kept, "", "\t")
	if err == nil {
		err = atomicfile.WriteText(path, 0o644, string(text)+"\n")
	}
	says := "no worker said why: it may crash them"
	if len(reports) > 0 {
		last := reports[len(reports)-1]
		says = fmt.Sprintf("worker %s says: %s", last.Worker, last.Error)
	}
	reason := fmt.Errorf("task %s (iteration %d, slot %d) was given to workers %d times and has no result: %s. "+
		"It is kept in %s", id, s.task.Iteration, s.task.Slot, l.spec.Limits.Deliveries, says, path)
	if err != nil {
		reason = fmt.Errorf("%w, but that failed: %w", reason, err)
	}
	l.fail(reason)
}

// exceeded is called with the broker's notice that a task was delivered too often.
func (l *Learner) exceeded(ctx context.Context, notice []byte) {
	var n struct {
		Seq uint64 `json:"stream_seq"`
	}
	if err := json.Unmarshal(notice, &n); err != nil {
		l.options.Log.Warn("a notice of the broker cannot be read", "error", err)
		return
	}
	raw, err := l.queues.tasks.GetMsg(ctx, n.Seq)
	if err != nil {
		return // its result has arrived since
	}
	m, err := parseTask(raw.Data)
	if err != nil {
		l.fail(fmt.Errorf("message %d in the queue of tasks: %w", n.Seq, err))
		return
	}
	l.mu.Lock()
	s := l.sent[taskID(m.Task.Iteration, m.Task.Slot)]
	open := s != nil && s.slot == nil
	l.mu.Unlock()
	if open {
		l.giveUp(s)
	} else if err := l.queues.tasks.DeleteMsg(ctx, n.Seq); err != nil {
		l.options.Log.Debug("a task that is over stays in the queue", "error", err)
	}
}

// watch publishes tasks again that the broker has lost, and looks for tasks that were delivered too often, until
// ctx ends.
func (l *Learner) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.spec.Limits.AckWait):
		}
		l.mu.Lock()
		var open []*sentTask
		for _, s := range l.sent {
			if s.slot == nil {
				open = append(open, s)
			}
		}
		quiet := time.Since(l.last) > 3*l.spec.Limits.AckWait
		l.mu.Unlock()
		if !quiet || len(open) == 0 {
			continue
		}
		info, err := l.queues.toWorkers.Info(ctx)
		if err != nil || info.NumPending > 0 || info.NumAckPending > 0 {
			continue
		}
		l.mu.Lock()
		l.last = time.Now()
		l.mu.Unlock()
		for _, s := range open {
			l.again(ctx, s)
		}
	}
}

// listenExceeded subscribes to the broker's notices.
func (l *Learner) listenExceeded(ctx context.Context, nc *nats.Conn) error {
	subject := fmt.Sprintf("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.%s.%s",
		queueName(l.spec.Run, l.spec.Epoch, "tasks"), workersName)
	sub, err := nc.Subscribe(subject, func(m *nats.Msg) { l.exceeded(ctx, m.Data) })
	if err == nil {
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return err
}
