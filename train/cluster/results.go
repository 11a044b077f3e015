package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet"
	"blockyard/datasets/program/disk"
	"blockyard/train/selfplay"
)

// take takes the results of a task. Those that are not waited for, late or repeated, are dropped.
func (l *Learner) take(msg jetstream.Msg) {
	defer func() { _ = msg.Ack() }() // one that is delivered again is dropped
	r, err := parseResult(msg.Headers())
	if err != nil {
		l.options.Log.Warn("a message that is no result was dropped", "error", err)
		return
	}
	l.mu.Lock()
	s := l.sent[place{r.id.iteration, r.id.first}]
	late := s == nil || s.id() != r.id || s.slots != nil
	l.mu.Unlock()
	if late {
		l.workers.Dropped(r.worker)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	slots, size, err := l.decode(ctx, r, s.tasks, msg.Data())
	if err != nil {
		l.workers.Trouble(fleet.Trouble{Task: r.id.String(), Worker: r.worker, Error: err.Error()})
		l.again(ctx, s)
		return
	}
	l.mu.Lock()
	if !l.waitedFor(s) {
		l.mu.Unlock()
		l.workers.Dropped(r.worker)
		return
	}
	s.slots, l.last = slots, time.Now()
	l.cost.add(time.Duration(r.busy)*time.Microsecond, size, len(slots))
	more := l.extend()
	l.mu.Unlock()
	l.counted(r, slots)
	l.wake()
	if err := l.publishAll(ctx, more); err != nil {
		l.fail(err)
	}
}

// counted adds results to what their worker has done.
func (l *Learner) counted(r *resultMessage, slots []*selfplay.Slot) {
	games, moves := 0, 0
	for _, s := range slots {
		games, moves = games+s.Ended(), moves+s.Moves()
	}
	l.workers.Counted(r.worker, games, moves, time.Duration(r.busy)*time.Microsecond)
}

// decode reads the results of a task's slots, from the object store if they are large. size is that of all.
func (l *Learner) decode(
	ctx context.Context, r *resultMessage, tasks []selfplay.Task, data []byte,
) (slots []*selfplay.Slot, size int, err error) {
	if r.object != "" {
		if data, err = l.objects.Get(ctx, r.object); err != nil {
			return nil, 0, err
		}
		defer func() { _ = l.objects.Remove(ctx, r.object) }() // the store is bounded and goes with the run
	}
	files, err := unpackResults(data, len(tasks))
	if err != nil {
		return nil, 0, err
	}
	for k, file := range files {
		s, err := l.player.Decode(&tasks[k], file)
		if err != nil {
			return nil, 0, err
		}
		slots = append(slots, s)
	}
	return slots, len(data), nil
}

// again publishes a task whose result was damaged or lost once more, or gives it up.
func (l *Learner) again(ctx context.Context, s *sentTask) {
	l.mu.Lock()
	s.tries++
	most := s.tries > l.spec.Limits.Deliveries
	l.mu.Unlock()
	if most {
		l.giveUp(ctx, s)
		return
	}
	if err := l.publish(ctx, s); err != nil {
		l.fail(err)
	}
}

// giveUp ends the run because of a slot that no worker could play, and writes its task to a file. If the task has
// several slots, it first has each played by itself.
func (l *Learner) giveUp(ctx context.Context, s *sentTask) {
	if len(s.tasks) > 1 {
		l.options.Log.Warn("a task failed too often: its slots are played one by one", "task", s.id())
		if err := l.publishAll(ctx, l.split(s)); err != nil {
			l.fail(err)
		}
		return
	}
	task := &s.tasks[0]
	id := s.id().String()
	reports := l.workers.Reports(id)
	path := filepath.Join(l.options.Folder, fmt.Sprintf("failed-task-%d-%d.json", task.Iteration, task.Slot))
	kept := struct {
		Spec    *Spec           `json:"spec"`
		Task    *selfplay.Task  `json:"task"`
		Reports []fleet.Trouble `json:"reports"`
	}{l.spec, task, reports}
	text, err := json.MarshalIndent(kept, "", "\t")
	if err == nil {
		err = disk.WriteText(path, 0o644, string(text)+"\n")
	}
	says := "no worker said why: it may crash them"
	if len(reports) > 0 {
		last := reports[len(reports)-1]
		says = fmt.Sprintf("worker %s says: %s", last.Worker, last.Error)
	}
	reason := fmt.Errorf("task %s (iteration %d, slot %d) was given to workers %d times and has no result: %s. "+
		"It is kept in %s", id, task.Iteration, task.Slot, l.spec.Limits.Deliveries, says, path)
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
	id := m.id()
	l.mu.Lock()
	s := l.sent[place{id.iteration, id.first}]
	open := s != nil && s.id() == id && s.slots == nil
	l.mu.Unlock()
	if open {
		l.giveUp(ctx, s)
	}
	if !open || id.slots > 1 {
		if err := l.queues.tasks.DeleteMsg(ctx, n.Seq); err != nil {
			l.options.Log.Debug("a task that is over stays in the queue", "error", err)
		}
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
		open := l.open()
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
