package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// Two learners never drive one run: the second one is refused while the first one lives. It takes over once the
// first one is silent, and then the first one cannot go on.
func TestOneLearner(t *testing.T) {
	before := leaseFor
	leaseFor = 2 * time.Second
	defer func() { leaseFor = before }()
	s, folder := newSite(t, nil), t.TempDir()
	run := newRun(t, small())
	first := s.learner(t, run, folder)
	o := LearnerOptions{Folder: folder, Limits: limits, Log: quiet}
	_, err := NewLearner(t.Context(), s.connect(t), newRun(t, small()), o)
	require.ErrorIs(t, err, ErrDriven)
	require.ErrorContains(t, err, "process ")

	first.stop() // as a process that is stopped, it renews nothing and hears nothing
	first.tasks.Wait()
	second, err := NewLearner(t.Context(), s.connect(t), newRun(t, small()), o)
	require.NoError(t, err)
	require.EqualValues(t, 2, second.spec.Epoch)
	first.lease.renewed = time.Time{} // its clock went on
	require.ErrorIs(t, first.Check(t.Context()), ErrDriven)
	require.ErrorContains(t, run.Step(), "nothing that it played since counts")
	require.NoError(t, first.Close(false))
	require.NoError(t, second.Check(t.Context()))
	require.NoError(t, second.Close(true))
}

// A worker that cannot play as the learner does is refused with the reason, and the learner learns it.
func TestRefusedWorkers(t *testing.T) {
	s := newSite(t, nil)
	run := newRun(t, small())
	l := s.learner(t, run, t.TempDir())
	good := *l.spec
	for says, change := range map[string]func(*Spec){
		"the learner has format version 1, this worker 3": func(s *Spec) { s.Version = 1 },
		"rules of blockbattle in version 99":              func(s *Spec) { s.Rules = 99 },
		"features of blockbattle with the hash beef":      func(s *Spec) { s.Features = "beef" },
		`no game "chess"`:          func(s *Spec) { s.Game = "chess" },
		`unknown field "Genius"`:   func(s *Spec) { s.Settings = json.RawMessage(`{"Genius":1}`) },
		"a budget of 0 iterations": func(s *Spec) { s.Settings = json.RawMessage(`{}`) },
	} {
		spec := good
		change(&spec)
		_, err := l.kv.Put(t.Context(), fleet.SpecKey(l.Run()), fleet.JSON(spec))
		require.NoError(t, err)
		err = <-s.work(t, t.Context(), "other")
		require.ErrorIs(t, err, ErrRefused, says)
		require.ErrorContains(t, err, says)
	}
	require.NoError(t, l.publishSpec(t.Context(), fleet.Running))
	ro := run.Learner.Rollout()
	l.checks[kindOf(ro)] = strings.Repeat("0", 64)
	ctx, cancel := context.WithCancel(t.Context())
	played := make(chan error, 1)
	go func() {
		_, err := l.Play(ctx, run, ro)
		played <- err
	}()
	err := <-s.work(t, t.Context(), "other")
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "its self-test of backup play gives")
	require.Eventually(t, func() bool { return l.Workers()[0].State == fleet.Refused }, 20*time.Second, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-played, context.Canceled)
	require.NoError(t, l.Close(true))
}

// crash is an algorithm whose policy panics in one slot.
type crash struct{ *phases.Config }

type crashPolicy struct{ selfplay.Policy }

func (c crash) Policy(g *games.Game, ro *selfplay.Rollout) (selfplay.Policy, error) {
	p, err := c.Config.Policy(g, ro)
	return crashPolicy{p}, err
}

func (p crashPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Index == 2 {
		panic("slot 2 is out of order")
	}
	return p.Policy.Choose(s, seat)
}

// A task that fails in every worker is played slot by slot. The slot that still fails is kept in a file, and the run
// stops and names it.
func TestTaskThatFails(t *testing.T) {
	s, folder := newSite(t, nil), t.TempDir()
	c := small()
	c.Games = 12
	run := newRun(t, c)
	l := s.learner(t, run, folder)
	require.Equal(t, 3, l.cost.groupSize(c.Games, 1))
	nc := s.connect(t)
	ended := make(chan error, 1)
	var log bytes.Buffer
	go func() {
		ended <- Work(t.Context(), nc, WorkerOptions{
			Name: "fragile", Threads: 1, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Algorithm: func(*games.Game) selfplay.Algorithm { return &crash{new(phases.Config)} },
		}, new(fleet.WorkerCounts))
	}()
	err := run.Go(t.Context(), nil)
	require.ErrorContains(t, err, "task 0-2-1 (iteration 0, slot 2) was given to workers 4 times and has no result")
	require.ErrorContains(t, err, "worker fragile says: panic: slot 2 is out of order")
	text, readErr := os.ReadFile(filepath.Join(folder, "failed-task-0-2.json"))
	require.NoError(t, readErr)
	require.ErrorContains(t, err, "failed-task-0-2.json")
	var kept struct {
		Task    selfplay.Task
		Reports []fleet.Trouble
	}
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Equal(t, 2, kept.Task.Slot)
	require.Len(t, kept.Reports, limits.Deliveries)
	require.NoError(t, l.Close(true))
	require.NoError(t, <-ended)
	require.Contains(t, log.String(), "a task failed")
}

// A task that kills every worker before it can say anything ends the run too.
func TestTaskThatCrashes(t *testing.T) {
	s, folder := newSite(t, nil), t.TempDir()
	c := small()
	c.Games = 2
	run := newRun(t, c)
	l, err := NewLearner(t.Context(), s.connect(t), run, LearnerOptions{
		Folder: folder, Limits: Limits{AckWait: 300 * time.Millisecond, Deliveries: 3}, Log: quiet,
	})
	require.NoError(t, err)
	run.Remote = l
	ended := make(chan error, 1)
	go func() { ended <- run.Step() }()
	for over := false; !over; {
		select {
		case err = <-ended:
			over = true
		default: // workers that take tasks and are never heard of again
			_, err := l.queues.toWorkers.Fetch(8, jetstream.FetchMaxWait(100*time.Millisecond))
			require.NoError(t, err)
		}
	}
	require.ErrorContains(t, err, "was given to workers 3 times and has no result: no worker said why: it may crash them")
	kept, err := filepath.Glob(filepath.Join(folder, "failed-task-0-*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, kept)
	require.NoError(t, l.Close(true))
}

// A task of a worker that dies without a word goes to another one, and one that the queue has lost is published again.
func TestLostTasks(t *testing.T) {
	s := newSite(t, nil)
	alone, together := newRun(t, small()), newRun(t, small())
	require.NoError(t, alone.Step())
	l := s.learner(t, together, t.TempDir())
	played := make(chan error, 1)
	go func() { played <- together.Step() }()
	var taken []jetstream.Msg
	for len(taken) < 6 { // a worker that takes all tasks: one it destroys, the others it keeps
		msg, err := l.queues.toWorkers.Next(jetstream.FetchMaxWait(10 * time.Second))
		require.NoError(t, err)
		taken = append(taken, msg)
	}
	require.NoError(t, taken[0].Term())
	s.work(t, t.Context(), "heir")
	select {
	case err := <-played:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatalf("the rollout does not end: %+v", l.Status())
	}
	require.Equal(t, weights(t, alone.Net()), weights(t, together.Net()))
	require.NoError(t, l.Close(true))
}

// The status names the run, its queues and its workers.
func TestStatus(t *testing.T) {
	s := newSite(t, nil)
	nc := s.connect(t)
	all, silent, err := fleet.Ask(t.Context(), nc)
	require.NoError(t, err)
	require.Empty(t, all)
	require.Empty(t, silent)
	run := newRun(t, small())
	l := s.learner(t, run, t.TempDir())
	ended := s.work(t, t.Context(), "only")
	require.NoError(t, run.Step())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	all, silent, err = fleet.Ask(ctx, nc)
	require.NoError(t, err)
	require.Empty(t, silent)
	require.Len(t, all, 1)
	require.Equal(t, l.Run(), all[0].Run)
	require.Equal(t, 1, all[0].Iteration)
	require.GreaterOrEqual(t, all[0].Workers[0].Tasks, 6)
	require.Contains(t, fleet.Table(all[0].Workers), "only")
	require.NoError(t, l.Close(true))
	require.NoError(t, <-ended)
	_, silent, err = fleet.Ask(ctx, nc)
	require.NoError(t, err)
	require.Equal(t, map[string]string{l.Run(): "blockbattle, done"}, silent)
}
