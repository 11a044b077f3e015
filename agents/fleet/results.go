package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
)

// Submit queues jobs. It tries again while the broker cannot be reached, until the run has failed.
func (s *Server) Submit(ctx context.Context, jobs ...*Job) error {
	for _, j := range jobs {
		j.tries = 1
		s.mu.Lock()
		s.jobs[j.ID] = j
		s.mu.Unlock()
		if err := s.publish(ctx, jobMessage{j.ID, 1, JSON(j.Spec)}); err != nil {
			return err
		}
	}
	return nil
}

// Reset forgets all jobs and all that was counted: the run continues from an earlier place. Later jobs need other IDs,
// because results of the forgotten ones may still arrive.
func (s *Server) Reset(ctx context.Context) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.mu.Lock()
	clear(s.jobs)
	s.counted = 0
	s.mu.Unlock()
	s.roster.reset()
	return s.Explain(s.queues.tasks.Purge(ctx))
}

// Withdraw forgets a job. Its result, if there will be one, is dropped.
func (s *Server) Withdraw(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[j.ID] == j {
		delete(s.jobs, j.ID)
	}
}

func (s *Server) publish(ctx context.Context, m jobMessage) error {
	for {
		_, err := s.js.Publish(ctx, queueSubject(&s.run, "tasks"), JSON(m), jetstream.WithMsgID(m.messageID()))
		if err == nil {
			return nil
		}
		var api *jetstream.APIError
		if errors.As(err, &api) || ctx.Err() != nil || errors.Is(err, jetstream.ErrNoStreamResponse) {
			if gone := s.lease.write(ctx, nil); errors.Is(gone, ErrDriven) {
				return gone
			}
			return s.Explain(err)
		}
		if s.Err() != nil {
			return s.Err()
		}
		s.options.Log.Warn("a job could not be queued, trying again", s.options.Noun, m.ID, "error", err)
		if err := program.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// take takes the result of a job. One that is not waited for, late or repeated, is dropped.
func (s *Server) take(msg jetstream.Msg) {
	s.taking.Lock()
	defer s.taking.Unlock()
	defer func() { _ = msg.Ack() }() // one that is delivered again is dropped
	m, err := parseResult(msg.Headers())
	if err != nil {
		s.options.Log.Warn("a message that is no result was dropped", "error", err)
		return
	}
	s.mu.Lock()
	j := s.jobs[m.Job]
	s.mu.Unlock()
	excluded := s.Excluded(m.Worker)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch {
	case m.State == failed && !excluded:
		s.roster.trouble(Trouble{Job: m.Job, Worker: m.Worker, Error: string(msg.Data())})
		return
	case j == nil || excluded:
		s.roster.add(m.Worker, WorkerRow{Dropped: 1})
		if j != nil && m.State != failed {
			j.lost = true
		}
		return
	case m.State == exceeded:
		s.giveUp(ctx, j)
		return
	}
	r := &Result{Data: msg.Data(), Worker: m.Worker, Busy: time.Duration(m.Busy) * time.Microsecond}
	if m.Object != "" {
		r.Data, err = s.Objects.Get(ctx, m.Object)
		defer func() { _ = s.Objects.Remove(ctx, m.Object) }() // the store is bounded and goes with the run
	}
	if err != nil {
		s.roster.trouble(Trouble{Job: j.ID, Worker: m.Worker, Error: err.Error()})
		s.again(ctx, j)
		return
	}
	if err := j.Take(r); err != nil {
		s.exclude(ctx, m.Worker, j, err)
		return
	}
	s.last = time.Now()
	s.mu.Lock()
	delete(s.jobs, j.ID)
	s.counted++
	s.mu.Unlock()
	s.roster.add(m.Worker, WorkerRow{Tasks: 1, Games: r.Games, Moves: r.Moves, Verified: r.Verified, Busy: r.Busy})
	j.Done()
}

// exclude lets a worker play no more for the run, since no worker can have played what it sent for a job, which is then
// queued again. The job is given up when that happens with as many workers as may have it. The caller holds taking.
func (s *Server) exclude(ctx context.Context, worker string, j *Job, why error) {
	s.roster.trouble(Trouble{Job: j.ID, Worker: worker, Error: why.Error()})
	all := s.roster.exclude(worker, fmt.Sprintf("its result of %s %s: %v", s.options.Noun, j.ID, why))
	if err := s.lease.write(ctx, func(r *Run) { r.Excluded = all }); err != nil {
		s.options.Log.Warn("an excluded worker could not be told yet", "worker", worker, "error", err)
	}
	if j.refused++; j.refused >= s.run.Limits.Deliveries {
		s.giveUp(ctx, j)
	} else {
		j.lost = true
	}
}

// Excluded reports whether a worker is excluded from the run, by this process or an earlier one.
func (s *Server) Excluded(worker string) bool { return s.roster.excluded(worker) }

// again queues a job whose result was lost once more, or gives it up. The caller holds taking.
func (s *Server) again(ctx context.Context, j *Job) {
	if j.faults++; j.faults >= s.run.Limits.Deliveries {
		s.giveUp(ctx, j)
	} else {
		s.queue(ctx, j)
	}
}

func (s *Server) queue(ctx context.Context, j *Job) {
	j.tries, j.lost = j.tries+1, false
	if err := s.publish(ctx, jobMessage{j.ID, j.tries, JSON(j.Spec)}); err != nil {
		s.Fail(err)
	}
}

// giveUp splits a job that no worker could do, or ends the run because of it and writes it to a file.
func (s *Server) giveUp(ctx context.Context, j *Job) {
	noun := s.options.Noun
	if j.Split != nil {
		s.options.Log.Warn("a "+noun+" failed too often: its parts are played one by one", noun, j.ID)
		s.Withdraw(j)
		if err := s.Submit(ctx, j.Split()...); err != nil {
			s.Fail(err)
		}
		return
	}
	reports := s.roster.reports(j.ID)
	path := filepath.Join(s.options.Folder, "failed-"+noun+"-"+j.ID+".json")
	text, err := json.MarshalIndent(map[string]any{"run": s.run, noun: j.Spec, "reports": reports}, "", "\t")
	if err == nil {
		err = disk.WriteText(path, 0o644, string(text)+"\n")
	}
	says := "no worker said why: it may crash them"
	if len(reports) > 0 {
		last := reports[len(reports)-1]
		says = fmt.Sprintf("worker %s says: %s", last.Worker, last.Error)
	}
	reason := fmt.Errorf("%s %s was given to workers %d times and has no result: %s. It is kept in %s",
		noun, j.ID, s.run.Limits.Deliveries, says, path)
	if err != nil {
		reason = fmt.Errorf("%w, but that failed: %w", reason, err)
	}
	s.Fail(reason)
}

// watch queues jobs again: those whose results came from excluded workers, and all that the broker has lost.
func (s *Server) watch() {
	for wait := s.run.Limits.AckWait; program.Sleep(s.ctx, min(look, wait)) == nil; {
		s.requeue(3 * wait)
	}
}

// requeue queues all jobs again if no result came for a time and the queue is empty. Otherwise it queues those whose
// results came from excluded workers: however many these send, the queue has about as many messages as there are jobs.
func (s *Server) requeue(after time.Duration) {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.jobs))
	s.mu.Unlock()
	if len(open) == 0 {
		s.last = time.Now()
	}
	lost := slices.DeleteFunc(slices.Clone(open), func(j *Job) bool { return !j.lost })
	idle := time.Since(s.last) >= after
	if len(lost) == 0 && !idle {
		return
	}
	info, err := s.queues.tasks.Info(s.ctx) // with the jobs that workers have
	if err != nil {
		return
	}
	queued := int(info.State.Msgs)
	if idle && queued == 0 {
		s.last = time.Now()
		for _, j := range open {
			s.again(s.ctx, j)
		}
	} else if queued < len(open) {
		for _, j := range lost {
			s.queue(s.ctx, j)
		}
	}
}
